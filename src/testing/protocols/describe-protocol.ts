import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeConversations } from './describe-conversations.js';
import { describeEvents } from './describe-events.js';
import { describeRequests } from './describe-requests.js';
import { describeToolCalls } from './describe-tool-calls.js';
import { subjectOf, type ExpectedAnswer, type ProtocolContract } from './protocol-contract.js';
import { runs } from './property-runs.js';
import { byteByByte, cutAt, replay } from './replay.js';

/** Answers up to this length are split at every position, longer answers at as many random positions. */
const EVERY_POSITION_UP_TO = 1_500;
const RANDOM_CUTS = 300;

/**
 * Describes the tests that every protocol over HTTP must pass: recorded answers, split at many places; arbitrary, expensive and
 * failed events; tool calls that break off; and the form of the request, with all that the protocol can map. Call this function in a test file of vitest.
 * `numRuns` of `fc.configureGlobal` sets the number of random answers and events.
 *
 * @experimental
 * @since 1.0
 *
 * @example
 * ```ts
 * describeProtocol({ protocol: new AcmeProtocol(), answers: [{ name: 'acme/hello', bytes, expected }] });
 * ```
 */
export function describeProtocol(contract: ProtocolContract): void {
  const { protocol, answers = [] } = contract;
  const subject = subjectOf(contract);
  const read = (pieces: Iterable<Uint8Array>) => replay(subject, pieces);
  const recorded = answers.map(({ name, bytes, expected }) => ({ name, bytes: Buffer.from(bytes), expected }));

  describe(`protocol ${protocol.name}`, () => {
    describe.each(recorded)('reading $name', ({ bytes, expected }) => {
      it('gives the answer when it arrives in one read', () => {
        expect(read([bytes])).toEqual(expected);
      });

      it('gives the same answer byte by byte', () => {
        expect(read(byteByByte(bytes))).toEqual(expected);
      });

      it('gives the same answer wherever it is split', () => {
        if (bytes.length <= EVERY_POSITION_UP_TO) {
          for (let position = 0; position <= bytes.length; position++) {
            expectAnswer(read(cutAt(bytes, position)), expected, `split at ${position}`);
          }
          return;
        }
        const positions = fc.array(fc.nat(bytes.length), { minLength: 1, maxLength: 6 });
        fc.assert(
          fc.property(positions, (cuts) => {
            expectAnswer(read(cutAt(bytes, ...cuts)), expected);
          }),
          runs(RANDOM_CUTS),
        );
      });
    });

    describeEvents(subject, contract.vocabulary);
    describeToolCalls(subject, contract);
    describeRequests(subject, contract);
    describeConversations(subject);
  });
}

/** Compares thousands of answers. An `expect` for each would take longer than to read the answer. */
function expectAnswer(answer: ExpectedAnswer, expected: ExpectedAnswer, message?: string): void {
  if (!isDeepStrictEqual(answer, expected)) expect(answer, message).toEqual(expected);
}
