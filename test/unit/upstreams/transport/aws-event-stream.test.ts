import { describe, expect, it } from 'vitest';
import type { ProviderEvent } from '../../../../src/upstreams/contract/protocol.js';
import { awsEventStream } from '../../../../src/upstreams/transport/aws-event-stream.js';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { converseEvent, converseException } from '../../../support/clouds/converse-stream.js';

const LIMIT = 4_096;

function decoded(...pieces: readonly Uint8Array[]): readonly ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const decoder = awsEventStream((event) => events.push(event), { maxEventBytes: LIMIT });
  for (const piece of pieces) decoder.write(Buffer.from(piece));
  decoder.end();
  return events;
}

const EVENT = converseEvent('contentBlockDelta', { text: 'Grüße 👋' });
const EVENTS = Buffer.concat([EVENT, converseException('throttlingException', { message: 'slow' }), EVENT]);
const FAILURE = expect.objectContaining({ code: 'upstream_error' }) as Error;

/** Changes one byte. */
const broken = (at: number) => Buffer.from(EVENT.map((byte, index) => (index === at ? byte ^ 0x01 : byte)));

describe('the event stream of AWS', () => {
  const [event, exception] = decoded(EVENTS);

  it('has events by their names, and exceptions as errors with their names', () => {
    expect(event).toEqual({ event: 'contentBlockDelta', data: '{"text":"Grüße 👋","p":"abcdefghijklmnop"}' });
    expect(exception).toEqual({ event: 'error', data: '{"type":"throttlingException","message":"slow"}' });
  });

  it('is the same wherever it is cut', () => {
    expect(decoded(...[...EVENTS].map((byte) => Buffer.of(byte)))).toEqual([event, exception, event]);
    for (let at = 0; at <= EVENTS.length; at++) {
      expect(decoded(EVENTS.subarray(0, at), EVENTS.subarray(at)), `cut at ${at}`).toEqual([event, exception, event]);
    }
  });

  it('fails at a wrong byte anywhere, and never waits for a wrong length', () => {
    for (let at = 0; at < EVENT.length; at++) expect(() => decoded(broken(at)), `byte ${at}`).toThrow(FAILURE);
    // A length that is far too large is noticed with the first 12 bytes.
    expect(() => decoded(broken(0).subarray(0, 12))).toThrow(FAILURE);
  });

  it('fails at a message above the limit before it has arrived', () => {
    const large = converseEvent('contentBlockDelta', { text: 'x'.repeat(LIMIT) });
    expect(() => decoded(large.subarray(0, 12))).toThrow(FAILURE);
  });

  it('passes on nothing of a message that is not whole', () => {
    expect(decoded(EVENT.subarray(0, -1))).toEqual([]);
  });

  it('fails at a message without a known type', () => {
    const codec = new EventStreamCodec(String, (text) => Buffer.from(text));
    expect(() => decoded(codec.encode({ headers: {}, body: Buffer.from('{}') }))).toThrow(FAILURE);
  });

  it('reads past headers of all types', () => {
    const codec = new EventStreamCodec(
      (bytes) => Buffer.from(bytes as Uint8Array).toString(),
      (text) => Buffer.from(text),
    );
    const headers = {
      ...{ a: { type: 'boolean', value: true }, b: { type: 'boolean', value: false }, c: { type: 'byte', value: 1 } },
      ...{
        d: { type: 'short', value: 2 },
        e: { type: 'integer', value: 3 },
        f: { type: 'binary', value: Buffer.of(1) },
      },
      ...{ g: { type: 'timestamp', value: new Date(0) } },
      ...{ h: { type: 'uuid', value: '00000000-0000-0000-0000-000000000000' } },
      ':message-type': { type: 'string', value: 'event' },
      ':event-type': { type: 'string', value: 'metadata' },
    };
    const bytes = codec.encode({ headers: headers as never, body: Buffer.from('{}') });
    expect(decoded(bytes)).toEqual([{ event: 'metadata', data: '{}' }]);
  });
});
