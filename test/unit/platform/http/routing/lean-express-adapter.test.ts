import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const MODULE = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  '..',
  'dist',
  'platform',
  'http',
  'routing',
  'lean-express-adapter.js',
);

/** Asks V8 itself, in syntax that V8 has only with a flag. */
const SCRIPT = `
  const { LeanExpressAdapter } = await import(${JSON.stringify(pathToFileURL(MODULE).href)});
  const adapter = new LeanExpressAdapter();
  adapter.initHttpServer();
  const [app, server] = [adapter.getInstance(), adapter.getHttpServer()];
  const isFast = (object) => %HasFastProperties(object);
  const seen = new Set();
  app.use((request, response) => {
    response.setHeader('X-Ours', 'set');
    response.status(200);
    seen.add(isFast(request) + ' ' + isFast(response));
    response.send('done');
  });
  server.on('request', app);
  server.listen(0, '127.0.0.1', async () => {
    const url = 'http://127.0.0.1:' + server.address().port;
    for (let count = 0; count < 50; count += 1) await (await fetch(url)).text();
    console.log([...seen].join());
    process.exit();
  });`;

it('requests and responses have fast properties while Express handles them', () => {
  const flags = ['--allow-natives-syntax', '--input-type=module', '--eval', SCRIPT];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe('true true');
});
