import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { ChatClient } from '../chat-client.js';
import type { ChatStream } from '../chat-stream.js';
import type { ChatMessage } from '../chat-types.js';
import { describeFailure, printAnswer, printReceipt } from './terminal.js';
import type { Options } from './options.js';

type Settings = Pick<Options, 'system' | 'temperature' | 'maxTokens'> & { readonly model: string };

/** Runs a conversation in the terminal until the user exits. */
export async function converse(client: ChatClient, settings: Settings): Promise<void> {
  const conversation = new Conversation(client, settings);
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  terminal.on('SIGINT', () => {
    if (!conversation.stop()) terminal.close();
  });
  say(`Model: ${settings.model}. Commands: /models, /model ID, /clear, /exit. Ctrl-C stops an answer.`);
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() === '/exit') break;
    await conversation.take(line).catch((error: unknown) => {
      say(describeFailure(error));
    });
    terminal.prompt();
  }
  terminal.close();
}

class Conversation {
  private model: string;
  private messages: ChatMessage[] = [];
  private answering: AbortController | undefined;

  constructor(
    private readonly client: ChatClient,
    private readonly settings: Settings,
  ) {
    this.model = settings.model;
    this.clear();
  }

  async take(line: string): Promise<void> {
    const [command = '', argument] = line.trim().split(/\s+/);
    if (command === '') return;
    if (!command.startsWith('/')) return this.ask(line);
    switch (command) {
      case '/models':
        return this.listModels();
      case '/model':
        return this.choose(argument);
      case '/clear':
        this.clear();
        say('Started a new conversation.');
        return;
      default:
        say('Commands: /models, /model ID, /clear, /exit');
    }
  }

  /** Stops the current answer. Returns false if there is no answer, or if the answer was already stopped. */
  stop(): boolean {
    if (this.answering === undefined || this.answering.signal.aborted) return false;
    this.answering.abort();
    return true;
  }

  private clear(): void {
    const { system } = this.settings;
    this.messages = system === undefined ? [] : [{ role: 'system', content: system }];
  }

  private async ask(content: string): Promise<void> {
    const { model, settings } = this;
    const messages: ChatMessage[] = [...this.messages, { role: 'user', content }];
    const { signal } = (this.answering = new AbortController());
    const request = { model, messages, temperature: settings.temperature, max_tokens: settings.maxTokens };
    const stream = this.client.stream(request, { signal, idempotencyKey: randomUUID() });
    let answer = '';
    try {
      await printAnswer(stream, (piece) => {
        answer += piece;
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.cancel(stream);
      say('Stopped: the answer is NOT complete.');
    } finally {
      this.answering = undefined;
      // The conversation drops a question without any answer. It keeps an incomplete answer, because the user has seen it.
      if (answer !== '') {
        this.messages = [...messages, { role: 'assistant', content: answer }];
        await printReceipt(this.client, stream);
      }
    }
  }

  /** Stops the generation. Without this, the service would generate on for a while. */
  private async cancel({ streamId }: ChatStream): Promise<void> {
    // If the service cannot be reached, the generation stops by itself.
    if (streamId !== undefined) await this.client.cancel(streamId).catch(() => undefined);
  }

  private async listModels(): Promise<void> {
    for (const { id, name, provider, context_length: contextLength } of await this.client.models()) {
      say(`${id === this.model ? '*' : ' '} ${id}  ${name}, ${provider}, ${contextLength} tokens`);
    }
  }

  private async choose(id: string | undefined): Promise<void> {
    if (id === undefined) {
      say(`Model: ${this.model}. To change it: /model ID`);
      return;
    }
    const models = await this.client.models();
    if (!models.some((model) => model.id === id)) {
      say(`There is no model "${id}". /models lists the available models.`);
      return;
    }
    this.model = id;
    say(`Model: ${id}.`);
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
