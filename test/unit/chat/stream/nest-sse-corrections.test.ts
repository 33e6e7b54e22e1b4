import { Controller, Module, Req, Res, Sse, SseSignal, type INestApplication, type MessageEvent } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Request, Response } from 'express';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NEVER, concat, of, range, map, tap, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { correctNestSse } from '../../../../src/chat/stream/nest-sse-corrections.js';

const PATIENCE = { timeout: 30_000 };

/** The calls of Nest to the response, in order. */
let calls: string[];
let emitted: number;
let ended: AbortSignal | undefined;
let probed: Response | undefined;

function record(response: Response, methods: readonly ('writeHead' | 'flushHeaders' | 'write')[]): void {
  for (const method of methods) {
    const original = response[method].bind(response) as (...args: unknown[]) => unknown;
    Object.assign(response, {
      [method]: (...args: unknown[]) => {
        calls.push(method === 'write' ? `write ${JSON.stringify(String(args[0]))}` : method);
        return original(...args);
      },
    });
  }
}

/** Routes of an application that has nothing of this service. */
@Controller()
class Events {
  @Sse('two')
  two(@Res() response: Response): Observable<MessageEvent> {
    record(response, ['writeHead', 'flushHeaders', 'write']);
    return of({ data: { n: 1 } }, { type: 'error', data: { n: 2 } });
  }

  @Sse('signal')
  signal(@SseSignal() signal: AbortSignal): Observable<MessageEvent> {
    ended = signal;
    return of({ data: 'only' });
  }

  @Sse('headers')
  headers(@Res() response: Response): Observable<MessageEvent> {
    response.setHeader('X-Ours', 'set');
    const writeHead = response.writeHead.bind(response) as (status: number, headers: object) => Response;
    response.writeHead = ((status: number, headers: object) => {
      calls.push(...Object.keys(headers));
      return writeHead(status, headers);
    }) as Response['writeHead'];
    return of({ data: 'only' });
  }

  @Sse('many')
  many(@Res() response: Response): Observable<MessageEvent> {
    const write = response.write.bind(response) as (chunk: string) => boolean;
    response.write = (chunk: string): boolean => {
      write(chunk);
      return false;
    };
    const events = range(1, 10_000).pipe(
      map((n) => ({ data: { n } })),
      tap(() => emitted++),
    );
    return concat(events, NEVER);
  }

  @Sse('quiet')
  quiet(@Req() { socket }: Request, @Res() response: Response): Observable<MessageEvent> {
    record(response, ['write']);
    probed = response;
    vi.spyOn(socket, 'isPaused').mockReturnValue(true);
    return concat(of({ data: 'first' }), NEVER);
  }
}

@Module({ controllers: [Events] })
class EventsModule {}

let app: INestApplication;

beforeEach(async () => {
  calls = [];
  emitted = 0;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  app = await NestFactory.create(EventsModule, { logger: false });
  await app.listen(0, '127.0.0.1');
});
afterEach(async () => {
  vi.useRealTimers();
  (app.getHttpServer() as { closeAllConnections(): void }).closeAllConnections();
  await app.close();
});

function open(path: string): Promise<IncomingMessage> {
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  return new Promise((resolve, reject) => {
    httpRequest({ port, path, headers: { connection: 'close' } }, resolve)
      .on('error', reject)
      .end();
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return body;
}

/** The numbers are those of the corrections in `nest-sse-corrections.ts`. */
describe('the event stream of Nest alone', () => {
  it('1: names no encoding in its media type', async () => {
    expect((await open('/two')).headers['content-type']).toBe('text/event-stream');
  });

  it('2: announces that it keeps the connection of a client that requests to close it', async () => {
    expect((await open('/two')).headers.connection).toBe('keep-alive');
  });

  it('3: flushes the headers before the first write', async () => {
    await bodyOf(await open('/two'));
    expect(calls.slice(0, 2)).toEqual(['writeHead', 'flushHeaders']);
  });

  it('4: adds an id to each event', async () => {
    await bodyOf(await open('/two'));
    expect(calls.slice(3)).toEqual([
      `write ${JSON.stringify('id: 1\ndata: {"n":1}\n\n')}`,
      `write ${JSON.stringify('event: error\nid: 2\ndata: {"n":2}\n\n')}`,
    ]);
  });

  it('5: begins with a blank line', async () => {
    expect(await bodyOf(await open('/two'))).toMatch(/^\nid: 1\n/);
  });

  it('6: writes an empty comment to a connection that Node does not read from', async () => {
    const response = await open('/quiet');
    await vi.waitFor(() => {
      expect(calls).toHaveLength(2);
    }, PATIENCE);
    vi.advanceTimersByTime(5_000);
    await vi.waitFor(() => {
      expect(calls[2]).toBe(`write ${JSON.stringify(': \n\n')}`);
    }, PATIENCE);
    response.destroy();
    probed?.destroy();
  });

  it('7: reads all events of an Observable, although the response accepts no more', async () => {
    const response = await open('/many');
    await vi.waitFor(() => {
      expect(emitted).toBe(10_000);
    }, PATIENCE);
    response.destroy();
  });

  it('8: ends the signal of a complete stream with a new error', async () => {
    await bodyOf(await open('/signal'));
    expect((ended?.reason as Error).stack).toContain('finalize');
  });

  it('9: sets the headers of the response again', async () => {
    await bodyOf(await open('/headers'));
    expect(calls.map((name) => name.toLowerCase())).toContain('x-ours');
  });
});

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
