import type { NestExpressApplication } from '@nestjs/platform-express';
import { statSync } from 'node:fs';
import { CONFIG, type Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { ConfigReload } from '../../models/config-reload.js';

const CHECK_EVERY_MS = 1_000;

/**
 * Reads CONFIG_FILE again on SIGHUP, and when the file changes. The watch looks once a second, because events of the file
 * system do not reach all kinds of mounts, such as a ConfigMap of Kubernetes. A changed file is read when it has not changed
 * for one more second, so that a half-written file is not read.
 *
 * @param onReload called after each change of the configuration.
 */
export function watchConfig(app: NestExpressApplication, onReload: () => void): void {
  const reload = app.get(ConfigReload, { strict: false });
  const apply = (): void => {
    if (reload.apply(() => loadConfig())) onReload();
  };
  process.on('SIGHUP', apply);
  const { catalogPath } = app.get<Config>(CONFIG);
  if (catalogPath === undefined) return;
  let read = stateOf(catalogPath);
  let last = read;
  setInterval(() => {
    const now = stateOf(catalogPath);
    const isSettled = now === last;
    last = now;
    if (now === read || !isSettled) return;
    read = now;
    apply();
  }, CHECK_EVERY_MS).unref();
}

/** Returns a text that changes with the file. A missing file has a state, too. */
function stateOf(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
