import type { Response } from 'express';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { correctNestSse } from '../../../../src/chat/stream/nest-sse-corrections.js';

it('a corrected response that Nest ends before the first event, as its client has left, throws nothing', async () => {
  const server = createServer((_, served) => {
    correctNestSse(served as Response, { keepsIds: false, beforeHeaders: vi.fn(), afterEvent: vi.fn() });
    served.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}`);
  expect([answer.status, await answer.text()]).toEqual([200, '']);
  server.close();
});
