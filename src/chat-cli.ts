import { ChatClient } from './client/chat-client.js';
import {
  describeFailure,
  isIncompleteAnswer,
  printAnswer,
  printEvents,
  printReceipt,
} from './client/terminal/terminal.js';
import { converse } from './client/terminal/conversation.js';
import { HOW_TO_GET_A_KEY, readOptions, USAGE } from './client/terminal/options.js';

/** The exit code for an answer that has begun and is not complete. */
const INCOMPLETE = 2;

/** A terminal client for a running service. `npm run chat -- --help` explains how to use it. */
async function run(): Promise<number> {
  // eslint-disable-next-line no-restricted-properties -- This HTTP client does not use the service's configuration.
  const options = readOptions(process.argv.slice(2), process.env);
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (options.key === undefined) {
    process.stderr.write(HOW_TO_GET_A_KEY);
    return 1;
  }
  const client = new ChatClient({ baseUrl: options.url, apiKey: options.key });
  const model = options.model ?? (await firstModel(client));
  const message = options.message ?? (process.stdin.isTTY ? undefined : await readStandardInput());
  if (message === undefined) {
    await converse(client, { ...options, model });
    return 0;
  }
  if (message === '') throw new Error('The message is empty.');
  const system = options.system === undefined ? [] : [{ role: 'system', content: options.system } as const];
  const { temperature, maxTokens } = options;
  const messages = [...system, { role: 'user', content: message } as const];
  const stream = client.stream({ model, messages, temperature, max_tokens: maxTokens });
  await (options.json ? printEvents(stream) : printAnswer(stream));
  // A program that reads the answer does not wait for the receipt.
  if (process.stdout.isTTY && !options.json) await printReceipt(client, stream);
  return 0;
}

async function firstModel(client: ChatClient): Promise<string> {
  const [first] = await client.models();
  if (first === undefined) throw new Error('The service has no models.');
  return first.id;
}

async function readStandardInput(): Promise<string> {
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8')) text += String(piece);
  return text.trimEnd();
}

// A program that reads the answer through a pipe may exit early.
process.stdout.on('error', () => process.exit(1));

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  return isIncompleteAnswer(error) ? INCOMPLETE : 1;
});
