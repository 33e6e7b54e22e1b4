import { Inject, Injectable } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, UsageStore, type UsageRecord } from 'chat-streaming-service';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const Config = z.strictObject({
  /** The folder for the files. */
  folder: z.string().default(join(tmpdir(), 'chat-usage')),
});

const DEAD_AFTER_MS = 60_000;

type Batch = Awaited<ReturnType<UsageStore['abandoned']>>[number];

/**
 * Stores the ledger in files: `records/<id>.json` for records that were written together, and `open/<process>/<batch>.json`
 * for streams that have begun. A file appears whole or not at all, because it gets its name last.
 */
@Injectable()
export class FileUsageStore extends UsageStore {
  private readonly process = randomUUID();

  constructor(@Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>) {
    super();
  }

  async open(batch: Parameters<UsageStore['open']>[0]): Promise<void> {
    await this.write(['open', this.process], batch.id, batch);
  }

  /** A repeated call writes the same file again, because the first record names the file. */
  async append(records: readonly UsageRecord[]): Promise<void> {
    const [first] = records;
    if (first !== undefined) await this.write(['records'], first.id, records);
  }

  async close(batchIds: readonly string[]): Promise<void> {
    for (const owner of await this.list('open')) {
      for (const id of batchIds) await rm(this.path('open', owner, `${id}.json`), { force: true });
    }
  }

  async beat(): Promise<void> {
    await this.write(['alive'], this.process, Date.now());
  }

  async abandoned(): Promise<Batch[]> {
    const batches: Batch[] = [];
    for (const owner of await this.list('open')) {
      if (await this.isAlive(owner)) continue;
      for (const file of await this.list('open', owner)) {
        const text = await readFile(this.path('open', owner, file), 'utf8');
        batches.push(JSON.parse(text) as Batch);
      }
    }
    return batches;
  }

  async leave(): Promise<void> {
    await rm(this.path('alive', `${this.process}.json`), { force: true });
  }

  private async isAlive(owner: string): Promise<boolean> {
    const beat = await stat(this.path('alive', `${owner}.json`)).catch(() => undefined);
    return beat !== undefined && Date.now() - beat.mtimeMs < DEAD_AFTER_MS;
  }

  private async write(folder: readonly string[], name: string, content: unknown): Promise<void> {
    await mkdir(this.path(...folder), { recursive: true });
    const unnamed = this.path(`${randomUUID()}.tmp`);
    await writeFile(unnamed, JSON.stringify(content));
    await rename(unnamed, this.path(...folder, `${name}.json`));
  }

  private async list(...folder: string[]): Promise<string[]> {
    return readdir(this.path(...folder)).catch(() => []);
  }

  private path(...names: readonly string[]): string {
    return join(this.config.folder, ...names);
  }
}

@ChatPlugin({ name: 'file-usage', compatibility: '^1', config: Config, usageStore: FileUsageStore })
export class FileUsagePlugin {}
