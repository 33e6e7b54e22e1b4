import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from '../../../src/common/service-error.js';
import type { FinishReason, TokenUsage } from '../../../src/upstreams/contract/stream-part.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

/** What a reader of the whole stream must come to. A member that is not there must not come up. */
export interface ExpectedAnswer {
  readonly text: string;
  readonly finish?: { readonly reason: FinishReason; readonly raw: string };
  readonly usage?: TokenUsage;
  /** The provider said that the answer is whole, and did not fail. */
  readonly complete: boolean;
  readonly error?: ErrorCode;
  /** How many events show the provider at work on something that is not the answer. */
  readonly progress?: number;
}

export interface Fixture {
  /** `<vendor>/<case>`. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly expected: ExpectedAnswer;
}

/** The recorded streams of one protocol. */
export function fixturesOf(protocol: string): readonly Fixture[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:sse|ndjson)$/.test(file))
    .sort()
    .map((file) => {
      const name = file.replace(/\.\w+$/, '');
      const json = readFileSync(join(FIXTURES, `${name}.expected.json`), 'utf8');
      const { protocol: owner, ...expected } = JSON.parse(json) as ExpectedAnswer & { readonly protocol: string };
      return { name, bytes: readFileSync(join(FIXTURES, file)), expected, owner };
    })
    .filter(({ owner }) => owner === protocol)
    .map(({ name, bytes, expected }) => ({ name, bytes, expected }));
}
