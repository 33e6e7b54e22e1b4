import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ChatCall } from '../../upstreams/contract/protocol.js';
import type { Capability } from '../../platform/config/capabilities.js';
import type { ProtocolSubject } from './protocol-contract.js';
import { TEST_CALL } from './samples.js';

const PIXELS = 'aGVsbG8h';
const SCHEMA = { type: 'object', properties: { postal_town: { type: 'string' } }, required: ['postal_town'] };

/** A call that needs the capability, and what its request must contain. */
const NEEDS: Readonly<Record<Capability, { readonly call: Partial<ChatCall>; readonly sent: readonly string[] }>> = {
  images: {
    call: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', url: `data:image/png;base64,${PIXELS}` },
          ],
        },
      ],
    },
    sent: ['What is this?', PIXELS],
  },
  tools: {
    call: {
      messages: [
        { role: 'user', content: 'Is it raining?' },
        {
          role: 'assistant',
          content: [{ type: 'tool_call', id: 'call_1', name: 'get_rain', json: '{"postal_town":"Tromsdalen"}' }],
        },
        { role: 'tool', content: [{ toolCallId: 'call_1', content: 'Showers until noon' }] },
      ],
      tools: [{ name: 'get_rain', description: 'Reports the rain.', parameters: SCHEMA }],
    },
    sent: ['get_rain', 'Reports the rain.', 'postal_town', 'Tromsdalen', 'Showers until noon'],
  },
  structured_output: {
    call: { responseFormat: { type: 'json_schema', name: 'place', schema: SCHEMA } },
    sent: ['postal_town'],
  },
  reasoning: { call: { reasoning: { effort: 'high' } }, sent: [] },
};

/** Describes the requests of conversations with more than texts. */
export function describeConversations({ protocol, requestOf }: ProtocolSubject): void {
  const { capabilities = [] } = protocol;
  if (capabilities.length === 0) return;

  describe('asking with more than texts', () => {
    it.each(capabilities)('sends what a call with %s has', async (capability) => {
      const { call, sent } = NEEDS[capability];
      const { body } = await requestOf({}, { ...TEST_CALL, ...call });
      expect(sent.filter((text) => !body.includes(text))).toEqual([]);
      expect(JSON.parse(body)).toBeTypeOf('object');
    });

    it('sends an image at a URL, or refuses the request by name', async () => {
      if (!capabilities.includes('images')) return;
      const content = [{ type: 'image', url: 'https://example.com/a.png' }] as const;
      const request = requestOf({}, { ...TEST_CALL, messages: [{ role: 'user', content }] });
      const body = await request.then(
        (sent) => sent.body,
        (error: unknown) => {
          expect(error).toBeInstanceOf(ServiceError);
          expect(error).toMatchObject({ code: 'invalid_request', details: [expect.anything()] });
          return undefined;
        },
      );
      if (body !== undefined) expect(body).toContain('https://example.com/a.png');
    });

    it('sends no empty members for what a call does not have', async () => {
      const { body } = await requestOf();
      const sent = JSON.stringify(JSON.parse(body));
      for (const member of ['tool', 'schema', 'effort', 'image']) expect(sent).not.toContain(`"${member}`);
    });
  });
}
