import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../../../src/platform/common/service-error.js';
import {
  decodeState,
  encodeState,
  type ReasoningForm,
} from '../../../../../../src/plugins/compatible/responses/response/output-items.js';
import { RESPONSES_BODY } from '../../../../../../src/plugins/compatible/responses/request/responses-request.js';
import { ResponseWriter } from '../../../../../../src/plugins/compatible/responses/response/response-writer.js';
import type { AnswerFacts } from '../../../../../../src/plugins/compatible/shared/compatible-answers.js';
import type { CompletionPart } from '../../../../../../src/upstreams/contract/stream-part.js';
import { checkEvents, ResponseStreamEvent } from '../../../../../support/open-responses.js';

const FACTS: AnswerFacts = {
  id: 'a1',
  createdSeconds: 1_000,
  model: 'fast',
  usage: () => ({ inputTokens: 1, outputTokens: 2 }) as ReturnType<AnswerFacts['usage']>,
  completedSeconds: () => 1_002,
};

async function writer(form: ReasoningForm = 'content'): Promise<ResponseWriter> {
  const { settings } = await RESPONSES_BODY.parse({ model: 'fast', input: 'Hi' }, () => undefined);
  return new ResponseWriter(FACTS, settings, form);
}

/** Parts in any order in which a service can send them: calls are open at the same time, and end in any order. */
const anyParts = fc
  .array(
    fc.oneof(
      fc.string({ minLength: 1 }).map((text) => ({ type: 'text' as const, text })),
      fc
        .record({ text: fc.string(), signature: fc.option(fc.string({ minLength: 1 }), { nil: undefined }) })
        .filter(({ text, signature }) => text !== '' || signature !== undefined)
        .map((part) => ({ type: 'reasoning' as const, ...part })),
      fc.constant({ type: 'start' as const }),
      fc.nat().map((which) => ({ type: 'delta' as const, which })),
      fc.nat().map((which) => ({ type: 'end' as const, which })),
    ),
    { maxLength: 30 },
  )
  .map((steps) => {
    const parts: CompletionPart[] = [];
    const open: string[] = [];
    let calls = 0;
    for (const step of steps) {
      if (step.type === 'text' || step.type === 'reasoning') parts.push(step);
      else if (step.type === 'start') {
        const id = `call_${calls}`;
        open.push(id);
        parts.push({
          type: 'tool_call_start',
          id,
          name: 'f',
          index: calls++,
          signature: calls % 2 ? 'sig' : undefined,
        });
      } else {
        const [id] = open.slice(step.which % Math.max(open.length, 1));
        if (id === undefined) continue;
        parts.push({ type: 'tool_call_delta', id, json: '{}' });
        if (step.type !== 'end') continue;
        open.splice(open.indexOf(id), 1);
        parts.push({ type: 'tool_call_end', id });
      }
    }
    for (const id of open) parts.push({ type: 'tool_call_end', id });
    return parts;
  });

describe('the events of Open Responses', () => {
  it('are valid for any order of parts, and agree with the response', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyParts,
        fc.constantFrom<ReasoningForm>('content', 'summary'),
        fc.constantFrom('stop' as const, 'length' as const),
        async (parts, form, reason) => {
          const events = await writer(form);
          const sent = [...parts, { type: 'finish' as const, reason, raw: reason }].flatMap((part) => events.add(part));
          const all = [...sent, ...events.end()].map((event) => ResponseStreamEvent.parse(event));
          const response = checkEvents(all);
          expect(response.status).toBe(reason === 'length' ? 'incomplete' : 'completed');
          const done = all.filter((event) => event.type === 'response.output_item.done');
          expect(done.toSorted((one, other) => one.output_index - other.output_index).map(({ item }) => item)).toEqual(
            response.output,
          );
          const texts = all.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
          expect(texts.join('')).toBe(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''));
          // An item that was cut is the last one.
          expect(response.output.slice(0, -1).every(({ status }) => status === 'completed')).toBe(true);
          expect(response.output.filter(({ type }) => type === 'function_call')).toHaveLength(
            parts.filter(({ type }) => type === 'tool_call_start').length,
          );
        },
      ),
    );
  });

  it('are valid for an answer that fails anywhere, and have no open call and no end', async () => {
    await fc.assert(
      fc.asyncProperty(anyParts, fc.nat(), async (parts, place) => {
        const events = await writer();
        const sent = parts.slice(0, place % (parts.length + 1)).flatMap((part) => events.add(part));
        const all = [...sent, ...events.fail(new ServiceError('upstream_error', 'It broke.'))];
        const response = checkEvents(all);
        expect(response).toMatchObject({ status: 'failed', error: { code: 'upstream_error', message: 'It broke.' } });
        expect(
          response.output.filter(({ type, status }) => type === 'function_call' && status !== 'completed'),
        ).toEqual([]);
      }),
    );
  });

  it('fail for an answer that is too long to repeat it at the end', async () => {
    const events = await writer();
    const text = 'a'.repeat(4 * 1024 * 1024);
    events.add({ type: 'text', text });
    events.add({ type: 'text', text });
    expect(() => events.add({ type: 'text', text: 'b' })).toThrow('The answer is too long.');
  });

  it('carry the state of a provider, and leave the state of another service as it is', () => {
    const state = { text: 'ä', signature: 's', encrypted: 'e', call: 'c' };
    expect(decodeState(encodeState(state))).toEqual(state);
    expect(decodeState('gAAAA')).toEqual({ encrypted: 'gAAAA' });
    expect(decodeState('rs1.e30x')).toEqual({ encrypted: 'rs1.e30x' });
    expect(decodeState('rs1.W10')).toEqual({ encrypted: 'rs1.W10' });
  });
});
