import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExpectedAnswer, RecordedAnswer } from '../../../src/testing/protocols/protocol-contract.js';
import { converseEvent, converseException } from '../../support/clouds/converse-stream.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

/** The members of a request that several protocols have in common. */
export const CHAT_BODY = { model: 'fast-1', stream: true, messages: [{ role: 'user', content: 'Hello' }] };

/** A recorded answer. The name is `<vendor>/<case>`. */
export interface Fixture extends RecordedAnswer {
  readonly bytes: Buffer;
}

/** The recorded streams of one protocol. */
export function fixturesOf(protocol: string): readonly Fixture[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:sse|ndjson|jsonl)$/.test(file))
    .sort()
    .map((file) => {
      const name = file.replace(/\.\w+$/, '');
      const json = readFileSync(join(FIXTURES, `${name}.expected.json`), 'utf8');
      const { protocol: owner, ...expected } = JSON.parse(json) as ExpectedAnswer & { readonly protocol: string };
      return { name, bytes: bytesOf(file), expected, owner };
    })
    .filter(({ owner }) => owner === protocol)
    .map(({ name, bytes, expected }) => ({ name, bytes, expected }));
}

/** The lines of a `.jsonl` file are the events of Bedrock by their names. The codec of AWS puts them into frames. */
function bytesOf(file: string): Buffer {
  const bytes = readFileSync(join(FIXTURES, file));
  if (!file.endsWith('.jsonl')) return bytes;
  const events = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .flatMap((line) => Object.entries(JSON.parse(line) as Record<string, object>));
  return Buffer.concat(
    events.map(([name, body]) =>
      name.endsWith('Exception') ? converseException(name, body) : converseEvent(name, body),
    ),
  );
}
