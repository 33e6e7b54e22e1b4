import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, documentAt } from './documents.js';
import { get } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';

const PROJECT = join(import.meta.dirname, 'generated-types');
const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const REQUEST = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] };

/** What `calls.ts` exports. The project does not check that file, as it needs the generated types. */
interface Calls {
  streamedText(baseUrl: string, key: string, body: object): AsyncIterable<string>;
  refused(origin: string, key: string): Promise<[string?, string[]?]>;
}

describe('types that a generator makes from the served OpenAPI document', () => {
  let stage: Stage;
  let folder: string;
  let calls: Calls;

  beforeAll(async () => {
    stage = await setStage();
    folder = mkdtempSync(join(tmpdir(), 'chat-openapi-'));
    const document = JSON.parse((await get(stage.origin, '/api/openapi.json')).raw) as OpenAPI3;
    const types = join(folder, 'served-api.d.ts');
    writeFileSync(types, astToString(await openapiTS(document)));
    const config = { extends: join(PROJECT, 'tsconfig.json'), compilerOptions: { paths: { 'served-api': [types] } } };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    calls = (await import(pathToFileURL(join(PROJECT, 'calls.ts')).href)) as Calls;
  });
  afterAll(async () => {
    await stage.clear();
    await rm(folder, { recursive: true });
  });

  it('accept correct calls, refuse incorrect ones, and name operations, chunks, errors and headers', () => {
    const { stdout } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  it('lead a generated client to a streamed answer', async () => {
    stage.provider.next((call) => {
      call.answer('Good ', 'evening.');
    });
    expect(await textOf(calls.streamedText(stage.origin, stage.key, REQUEST))).toBe('Good evening.');
  });

  it('lead a generated client to the failure of a stream', async () => {
    stage.provider.next((call) => {
      call.head().text('Half').failure('server_error').end();
    });
    await expect(textOf(calls.streamedText(stage.origin, stage.key, REQUEST))).rejects.toThrow('upstream_error: ');
  });

  it('lead a generated client to an error with its code', async () => {
    expect(await calls.refused(stage.origin, stage.key)).toEqual(['model_not_found', ['acme/fast']]);
  });

  it('are read as the documents show', () => {
    expect(codeBlocks(documentAt('docs/http-api.md'), 'ts').join('')).toBe(
      readFileSync(join(PROJECT, 'streamed-text.ts'), 'utf8').replace("'served-api'", "'./chat-api.js'"),
    );
  });
});

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
