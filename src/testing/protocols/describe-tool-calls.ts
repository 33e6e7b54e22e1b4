import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamPart } from '../../upstreams/contract/stream-part.js';
import { arbitraryJson } from './describe-events.js';
import type { ExpectedAnswer, ProtocolContract, ProtocolSubject } from './protocol-contract.js';
import { runs } from './property-runs.js';
import { cutAt, replay } from './replay.js';

/** Answers up to this length are cut at every position, longer answers at as many positions. */
const MAX_CUTS = 500;

/** Describes how a protocol reads tool calls: in arbitrary events, and in recorded answers that break off. */
export function describeToolCalls(subject: ProtocolSubject, { answers = [], vocabulary }: ProtocolContract): void {
  const recorded = answers.filter(({ expected }) => expected.complete && expected.toolCalls !== undefined);

  describe('with tool calls', () => {
    it('gives each call an id of its own and a name, and no part of a call that is not open', () => {
      const events = fc.array(arbitraryJson(vocabulary), { minLength: 1, maxLength: 6 });
      fc.assert(
        fc.property(events, (all) => {
          const reader = subject.open();
          checkCalls(all.flatMap((data) => reader.parts({ event: 'message', data })));
        }),
        runs(1_000),
      );
    });

    if (recorded.length === 0) return;

    it.each(recorded)('ends no call of $name that breaks off', ({ bytes, expected: { toolCalls: whole = [] } }) => {
      const all = Buffer.from(bytes);
      const step = Math.ceil(all.length / MAX_CUTS);
      for (let length = 0; length < all.length; length += step) {
        const [beginning = all] = cutAt(all, length);
        for (const [index, { name, json }] of callsOf(replay(subject, [beginning])).entries()) {
          expect(name, `cut at ${length}`).toBe(whole[index]?.name);
          if (json !== undefined) expect(json, `cut at ${length}`).toBe(whole[index]?.json);
        }
      }
    });
  });
}

function callsOf({ toolCalls = [] }: ExpectedAnswer) {
  return toolCalls;
}

function checkCalls(parts: readonly StreamPart[]): void {
  const started = new Set<string>();
  const open = new Set<string>();
  for (const part of parts) {
    if (part.type === 'tool_call_start') {
      expect([part.id, part.name], 'an id and a name').not.toContain('');
      expect(started, 'the ids').not.toContain(part.id);
      started.add(part.id);
      open.add(part.id);
    } else if (part.type === 'tool_call_delta' || part.type === 'tool_call_end') {
      expect(open, 'the open calls').toContain(part.id);
      if (part.type === 'tool_call_end') open.delete(part.id);
    } else if (part.type === 'reasoning') {
      expect(part.text !== '' || (part.signature ?? part.encrypted) !== undefined, 'the reasoning is empty').toBe(true);
    }
  }
}
