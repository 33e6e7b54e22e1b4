import type { Script } from '../../src/testing/provider/scripted-provider.js';

interface OfferedTool {
  readonly function: { readonly name: string };
}
interface SentMessage {
  readonly role: string;
  readonly content: unknown;
}

/** The files that the model looks at, one in each round, with the command that shows them. */
const ROUNDS = [
  { path: '.', command: 'ls' },
  { path: 'notes.txt', command: 'cat notes.txt' },
] as const;

/** Programs sometimes report no output of a command that had some. A model then looks again, but not for ever. */
const MAX_ROUNDS = 5;
const WORD = /heron-\d+/;

/** The arguments by the names of the tools by which programs look at files, in the order of preference. */
const TOOLS: readonly (readonly [RegExp, (round: (typeof ROUNDS)[number]) => object])[] = [
  [/^look$/, ({ path }) => ({ path })],
  [/^exec_command$/, ({ command }) => ({ cmd: command })],
  [/^shell$/, ({ command }) => ({ command: ['bash', '-lc', command] })],
  [/^run_commands$/, ({ command }) => ({ commands: [command] })],
  [/^run_shell_command$/, ({ command }) => ({ command, is_background: false })],
  [/^(?:shell_command|[Bb]ash)$/, ({ command }) => ({ command, description: 'Look at the files' })],
];

/** The parts of the last answer, as a provider of OpenAI's kind gets them. */
export const messagesIn = (body: object): readonly SentMessage[] =>
  (body as { messages?: readonly SentMessage[] }).messages ?? [];

/** A model that looks at two files with the tools of the program, and then tells the word that it has found. */
export const agentModel: Script = (call) => {
  const { tools = [] } = call.json as { tools?: readonly OfferedTool[] };
  const results = messagesIn(call.json).filter(({ role }) => role === 'tool');
  const names = tools.map(({ function: { name } }) => name);
  const image = /Look at ([\w/.-]+\.png)/.exec(call.body)?.[1];
  if (image !== undefined && results.length === 0 && names.includes('Read')) {
    call.head().toolCall('Read', JSON.stringify({ file_path: image }), 'call_image');
    call.finish('tool_calls').endMarker().end();
    return;
  }
  const word = WORD.exec(JSON.stringify(results.at(-1) ?? ''))?.[0];
  const isOver = results.length >= MAX_ROUNDS || (results.length >= ROUNDS.length && word !== undefined);
  const round = isOver ? undefined : (ROUNDS[results.length] ?? ROUNDS.at(-1));
  const [used] = TOOLS.flatMap(([pattern, argumentsOf]) => {
    const name = names.find((each) => pattern.test(each));
    return name === undefined ? [] : [{ name, argumentsOf }];
  });
  if (round === undefined || used === undefined) {
    call.answer('The word ', `is ${word ?? 'not found'}.`);
    return;
  }
  const json = JSON.stringify(used.argumentsOf(round));
  call.head().text('I look. ').toolCall(used.name, json, `call_${results.length}`);
  call.finish('tool_calls').endMarker().end();
};
