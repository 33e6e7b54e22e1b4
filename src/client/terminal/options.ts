import { parseArgs } from 'node:util';

export interface Options {
  readonly help: boolean;
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly system: string | undefined;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  readonly message: string | undefined;
  /** Whether to print the events as JSON. */
  readonly json: boolean;
}

const DEFAULT_URL = 'http://127.0.0.1:3000';

export const USAGE = `Usage: npm run --silent chat -- [options] [MESSAGE]

Chats with the running service and prints each answer as it arrives. With a MESSAGE, or a piped message, prints one answer
and exits: 0 after a complete answer, 2 after an incomplete one, 1 without an answer.

  --url URL             the service; /api/v1 can be left out (or CHAT_URL; default ${DEFAULT_URL})
  --key KEY             an API key (or CHAT_API_KEY)
  --model ID            the model (default: the first of GET /chat/models)
  --system TEXT         a system message
  --temperature N       0 to 2
  --max-tokens N        the maximum number of tokens per answer
  -m, --message TEXT    the same as MESSAGE
  --json                prints one event a line, as the service sends it, instead of the text
  -h, --help            this text

In a conversation: /models, /model ID, /clear, /exit. Ctrl-C stops the answer; a second one exits.
`;

export const HOW_TO_GET_A_KEY = `No API key. Set --key or CHAT_API_KEY. To create a key while the service is running:

  npm run --silent admin -- account create --email you@example.com
  npm run --silent admin -- key create --email you@example.com --name chat

The first command asks for a password. The second command prints the key. The key is shown only once.
`;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the options from the arguments and the environment variables.
 *
 * @throws {Error} with a message about the invalid argument.
 */
export function readOptions(args: readonly string[], variables: Variables): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      url: { type: 'string' },
      key: { type: 'string' },
      model: { type: 'string' },
      system: { type: 'string' },
      temperature: { type: 'string' },
      'max-tokens': { type: 'string' },
      message: { type: 'string', short: 'm' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.message !== undefined && positionals.length > 0) throw new Error('Give the message once.');
  const url = values.url ?? (variables['CHAT_URL'] || DEFAULT_URL);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`--url: "${url}" is not an http:// or https:// URL.`);
  return {
    help: values.help,
    url,
    key: values.key ?? (variables['CHAT_API_KEY'] || undefined),
    model: values.model,
    system: values.system,
    temperature: readNumber('--temperature', values.temperature),
    maxTokens: readNumber('--max-tokens', values['max-tokens']),
    message: values.message ?? (positionals.length === 0 ? undefined : positionals.join(' ')),
    json: values.json,
  };
}

function readNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  // The service checks the limits. This code only checks that the value is a number.
  if (value.trim() === '' || !Number.isFinite(number)) throw new Error(`${option}: "${value}" is not a number.`);
  return number;
}
