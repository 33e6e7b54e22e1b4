import { createHash } from 'node:crypto';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { CallContext } from '../../contract/call-context.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { Tool } from '../../contract/conversation.js';
import { textsOf } from '../../contract/message-texts.js';
import type { InProcessProtocol } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { SAME_OPTION_NAMES } from '../shared/option-members.js';
import { newToolCallId } from '../shared/tool-calls.js';
import { calledTools } from './called-tools.js';
import { schemaJson } from './schema-value.js';
import { untilStop } from './stop-texts.js';
import { countWords, wordsOf } from './words.js';
import { plainMessages } from '../shared/plain-messages.js';
import { describedContents } from './described-contents.js';
import { replyTo } from './small-talk.js';

interface BuiltinProtocolOptions {
  /** The delay between two words, in milliseconds. 0: no delay. */
  readonly wordDelayMs?: number;
}

const NATURAL_WORD_DELAY_MS = 25;
/** Without a delay, the number of words to send before other work of the process can run. */
const WORDS_OF_A_TURN = 100;
/** The length of a piece of arguments, in UTF-16 units. */
const PIECE_LENGTH = 12;
const REASONING = 'I look for a fixed reply that fits the last message. ';

/** A part of the answer that counts as one token, or a part that counts as none. */
interface Step {
  readonly part: StreamPart;
  readonly tokens: 0 | 1;
}

/**
 * Answers without a provider, so that the service works at its first start without an API key of a provider.
 * Sends a requested text, a fixed reply or calls of tools, word by word. A token is a word with the white space after it.
 */
export class BuiltinProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'builtin';
  /** It obeys `stop` and a temperature of 0, and ignores the others. */
  readonly generationOptions = SAME_OPTION_NAMES;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  private readonly wordDelayMs: number;

  constructor({ wordDelayMs = NATURAL_WORD_DELAY_MS }: BuiltinProtocolOptions = {}) {
    this.wordDelayMs = wordDelayMs;
  }

  async *stream(call: ChatCall, _: UpstreamConfig, { signal }: CallContext): AsyncGenerator<StreamPart> {
    const tools = calledTools(call);
    const steps = stepsOf(call, tools);
    const limit = call.maxTokens ?? Infinity;
    let outputTokens = 0;
    let reasoningOutputTokens = 0;
    let step = steps.next();
    while (step.done !== true && outputTokens + step.value.tokens <= limit) {
      const { part, tokens } = step.value;
      if (outputTokens > 0 && tokens > 0) await this.pause(outputTokens, signal);
      if (signal.aborted) return;
      yield part;
      outputTokens += tokens;
      if (part.type === 'reasoning') reasoningOutputTokens += tokens;
      step = steps.next();
    }
    const inputTokens = await countWords(promptTexts(call), signal);
    if (signal.aborted) return;
    const usage = { inputTokens, outputTokens };
    yield { type: 'usage', usage: reasoningOutputTokens === 0 ? usage : { ...usage, reasoningOutputTokens } };
    const ended = tools.length > 0 ? 'tool_calls' : 'stop';
    const reason = step.done === true ? ended : 'length';
    yield { type: 'finish', reason, raw: reason };
    yield { type: 'complete', last: true };
  }

  /** Waits before the next word. Resolves early when the signal aborts: the caller checks the signal. */
  private async pause(wordsSent: number, signal: AbortSignal): Promise<void> {
    if (this.wordDelayMs > 0) await wait(this.wordDelayMs, undefined, { signal }).catch(() => undefined);
    else if (wordsSent % WORDS_OF_A_TURN === 0) await turn();
  }
}

function* stepsOf(call: ChatCall, tools: readonly Tool[]): Generator<Step, undefined> {
  const { reasoning, options } = call;
  if (reasoning !== undefined && reasoning.effort !== 'none') yield* reasoningSteps();
  for (const [index, tool] of tools.entries()) yield* callSteps(tool, index);
  if (tools.length > 0) return;
  const words = replyWords(call);
  for (const text of options.stop === undefined ? words : untilStop(words, options.stop)) {
    yield { part: { type: 'text', text }, tokens: 1 };
  }
}

/** A short text with a signature, so that clients can be tried that send reasoning back. */
function* reasoningSteps(): Generator<Step, undefined> {
  for (const text of wordsOf(REASONING)) yield { part: { type: 'reasoning', text }, tokens: 1 };
  const signature = createHash('sha256').update(REASONING).digest('base64');
  yield { part: { type: 'reasoning', text: '', signature }, tokens: 0 };
}

function* callSteps({ name, parameters }: Tool, index: number): Generator<Step, undefined> {
  const id = newToolCallId();
  yield { part: { type: 'tool_call_start', id, name, index }, tokens: 1 };
  const given = schemaJson(parameters);
  const json = given.startsWith('{') ? given : '{}';
  for (let start = 0; start < json.length; start += PIECE_LENGTH) {
    yield { part: { type: 'tool_call_delta', id, json: json.slice(start, start + PIECE_LENGTH) }, tokens: 1 };
  }
  yield { part: { type: 'tool_call_end', id }, tokens: 0 };
}

function promptTexts({ messages, tools = [] }: ChatCall): readonly string[] {
  const texts = messages.flatMap((message) =>
    typeof message.content === 'string' ? [message.content] : [...textsOf(message)],
  );
  return [...texts, ...tools.map(({ name, description = '' }) => `${name} ${description}`)];
}

/** Returns the words of the answer's text, in the requested format. Each word is created when the caller reads it. */
function replyWords({ messages, options, responseFormat }: ChatCall): Iterable<string> {
  if (responseFormat?.type === 'json_schema') return wordsOf(schemaJson(responseFormat.schema));
  const described = describedContents(messages);
  const words = described === undefined ? replyTo(plainMessages(messages), options.temperature) : wordsOf(described);
  return responseFormat?.type === 'json' ? wordsOf(JSON.stringify({ answer: [...words].join('') })) : words;
}
