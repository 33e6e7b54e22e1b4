import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, documentAt } from '../package/documents.js';
import { startService, type RunningService } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';
import { WEBHOOK_SECRET } from '../support/webhook-receiver.js';

describe('the receiver in docs/webhooks.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chat-receiver-'));
  let receiver: ChildProcess;
  let service: RunningService;
  let url = '';
  let printed = '';

  beforeAll(async () => {
    const [code = ''] = codeBlocks(documentAt('docs/webhooks.md'), 'js');
    writeFileSync(join(folder, 'receiver.mjs'), code);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET };
    receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    receiver.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
    await waitFor(async () => (await fetch(url).catch(() => undefined))?.status === 401, 'the receiver to listen');
    const webhooks = { portal: { url, secret: WEBHOOK_SECRET, allowed_networks: ['127.0.0.1'] } };
    service = await startService({ webhooks });
  });
  afterAll(async () => {
    await service.stop();
    receiver.kill();
    rmSync(folder, { recursive: true });
  });

  it('accepts what the service sends, and nothing that is not signed', async () => {
    const { key } = await service.createKey();
    await fetch(`${service.origin}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify([{ token: key }]),
    });
    await waitFor(() => /^key\.leaked [\w-]{36} test\n$/.test(printed), 'the printed event');

    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,AAAA' };
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
