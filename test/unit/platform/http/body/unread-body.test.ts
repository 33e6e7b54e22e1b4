import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { dropRestOfBody } from '../../../../../src/platform/http/body/unread-body.js';

/** A connection, of which the test sees how it ends. */
class FakeSocket extends EventEmitter {
  readonly destroy = vi.fn<() => void>();
  readonly end = vi.fn<() => void>();
  readonly closedByNode = vi.fn<() => void>();
  readonly setTimeout = vi.fn<(ms: number, listener: () => void) => void>();
  destroySoon: () => void = this.closedByNode;
}

class FakeRequest extends EventEmitter {
  complete = false;
  readonly socket = new FakeSocket();
  readonly pause = vi.fn<() => void>();
  readonly resume = vi.fn<() => void>();

  constructor(readonly headers: Readonly<Record<string, string>>) {
    super();
  }
}

const setHeader = vi.fn<(name: string, value: string) => void>();

function refused(headers: Record<string, string>, complete = false): FakeRequest {
  const request = Object.assign(new FakeRequest(headers), { complete });
  dropRestOfBody(request as unknown as IncomingMessage, { setHeader } as unknown as ServerResponse);
  return request;
}

describe('the unread part of a body', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    setHeader.mockReset();
  });

  it.each([
    ['has arrived', { 'content-length': '5' }, true],
    ['does not exist', {}, false],
    ['is empty', { 'content-length': '0' }, false],
  ])('is left alone where it %s', (_, headers, complete) => {
    const request = refused(headers, complete);
    expect([vi.getTimerCount(), request.resume.mock.calls.length, setHeader.mock.calls.length]).toEqual([0, 0, 0]);
    request.socket.destroySoon();
    expect(request.socket.closedByNode).toHaveBeenCalledTimes(1);
  });

  it.each(['end', 'close'])('is read at once where it is short, and after its %s the connection stays', (event) => {
    const request = refused({ 'content-length': String(64 * 1024) });
    expect([request.resume.mock.calls.length, setHeader.mock.calls.length]).toEqual([1, 0]);
    request.emit(event);
    expect([vi.getTimerCount(), request.socket.listenerCount('close')]).toEqual([0, 0]);
    vi.advanceTimersByTime(10_000);
    expect(request.socket.destroy).not.toHaveBeenCalled();
  });

  it('may take two seconds', () => {
    const { socket } = refused({ 'content-length': '5' });
    vi.advanceTimersByTime(1_999);
    expect(socket.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.destroy).toHaveBeenCalledTimes(1);
  });

  it.each([{ 'content-length': String(64 * 1024 + 1) }, { 'transfer-encoding': 'chunked' }])(
    'is read slowly where it is long, and ends the connection: %o',
    (headers) => {
      const request = refused(headers);
      expect(setHeader.mock.calls).toEqual([['Connection', 'close']]);
      expect(request.resume).not.toHaveBeenCalled();
      for (let piece = 1; piece <= 3; piece++) {
        request.emit('data', Buffer.alloc(1));
        expect(request.pause).toHaveBeenCalledTimes(piece);
        vi.advanceTimersByTime(99);
        expect(request.resume).toHaveBeenCalledTimes(piece - 1);
        vi.advanceTimersByTime(1);
        expect(request.resume).toHaveBeenCalledTimes(piece);
      }
    },
  );

  it('that is long does not keep the connection of a silent client', () => {
    const { socket } = refused({ 'transfer-encoding': 'chunked' });
    socket.destroySoon();
    const [[ms, onTimeout] = []] = socket.setTimeout.mock.calls;
    expect(ms).toBe(1_000);
    onTimeout?.();
    expect(socket.destroy).toHaveBeenCalledTimes(1);
  });

  it('that is long, and has arrived before the answer, closes the connection as usual', () => {
    const request = refused({ 'transfer-encoding': 'chunked' });
    request.complete = true;
    request.socket.destroySoon();
    expect([request.socket.closedByNode.mock.calls.length, request.socket.end.mock.calls.length]).toEqual([1, 0]);
  });
});
