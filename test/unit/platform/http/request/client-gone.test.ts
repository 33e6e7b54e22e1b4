import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { clientGone } from '../../../../../src/platform/http/request/client-gone.js';

function response(state: { closed?: boolean; destroyed?: boolean } = {}) {
  const { closed = false, destroyed = false } = state;
  return Object.assign(new EventEmitter(), { closed, req: { context: {}, socket: { destroyed } } });
}
const signalOf = (of: EventEmitter) => clientGone(of as unknown as ServerResponse);

it('a client that has its whole response has not gone', () => {
  const sent = response();
  const signal = signalOf(sent);
  expect([signal.aborted, signalOf(sent)]).toEqual([false, signal]);
  sent.emit('finish');
  sent.req.socket.destroyed = true;
  sent.emit('close');
  expect(signal.aborted).toBe(false);
});

it.each(['the whole response is left', 'the response is ended for it'])('a client that leaves has gone: %s', (how) => {
  const left = response();
  const signal = signalOf(left);
  left.req.socket.destroyed = true;
  if (how === 'the response is ended for it') left.emit('finish');
  expect(signal.aborted).toBe(false);
  left.emit('close');
  expect(signal.aborted).toBe(true);
});

it.each([{ closed: true }, { destroyed: true }])('a client that has left before the question has gone: %o', (state) => {
  expect(signalOf(response(state)).aborted).toBe(true);
});
