import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { Latch } from '../support/latch.js';
import { setStage, type Stage } from '../support/stage.js';
import { ChatProgram, CTRL_C, SCRIPT } from '../support/terminal.js';

const PRICE = { input_per_million: 1, output_per_million: 10 };
const MARKDOWN = '# Title\n\n- **bold** and `code`\n\n```js\nlet a = 1;\n```\n\n| a | b |\n| - | - |\n';
const USAGE =
  'data: {"id":"1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":34,"total_tokens":1234}}\n\n';

describe('npm run chat', () => {
  let stage: Stage;
  let programs: ChatProgram[] = [];

  beforeAll(async () => {
    stage = await setStage(1, { price: PRICE });
  });
  afterEach(async () => {
    await Promise.all(programs.map((program) => program.stop()));
    programs = [];
    stage.provider.calls.length = 0;
  });
  afterAll(() => stage.clear());

  const options = (key = stage.key) => ['--url', stage.origin, '--key', key];
  function started(program: ChatProgram): ChatProgram {
    programs.push(program);
    return program;
  }
  const piped = (...parameters: Parameters<typeof ChatProgram.piped>) => started(ChatProgram.piped(...parameters));
  /** Asks one question through pipes, as a script does. */
  const ask = (message: string, key?: string) => piped([...options(key), '-m', message]).exited;

  /** Answers with a part of the text, and with the rest when the latch opens. */
  function halfAnswer(): Latch {
    const latch = new Latch();
    stage.provider.next(async (call) => {
      call.head().text('Half ');
      await latch.opened;
      call.text('and half.').finish().endMarker().end();
    });
    return latch;
  }

  describe('for a program that reads the answer', () => {
    it('answers one question: the text and nothing else, at the origin without a path', async () => {
      expect(await ask('Who is there?')).toEqual({ code: 0, signal: null, stdout: 'Hello world\n', stderr: '' });
      expect(stage.provider.calls[0]?.json).toMatchObject({ messages: [{ role: 'user', content: 'Who is there?' }] });
    });

    it('reads the message from a pipe, and the address and the key from the environment', async () => {
      const env = { CHAT_URL: `${stage.origin}/api/v1`, CHAT_API_KEY: stage.key };

      const exit = await piped(['--system', 'Be brief.'], 'First line\nsecond line\n', env).exited;

      expect(exit).toMatchObject({ code: 0, stdout: 'Hello world\n', stderr: '' });
      expect(stage.provider.calls[0]?.json).toMatchObject({
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'First line\nsecond line' },
        ],
      });
    });

    it('sends the message of the arguments unchanged', async () => {
      const exit = await piped([...options(), 'What', 'is "2 + 2"?']).exited;
      expect(exit).toMatchObject({ code: 0, stdout: 'Hello world\n', stderr: '' });
      expect(stage.provider.calls[0]?.json).toMatchObject({ messages: [{ content: 'What is "2 + 2"?' }] });
    });

    it('prints one event a line with --json, the end and a failure included', async () => {
      const whole = await piped([...options(), '--json', 'Hello']).exited;
      const events = whole.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { content: string });
      expect(events.map(({ content }) => content).join('')).toBe('Hello world');
      expect([events.at(-1), whole.code]).toEqual([{ content: '', done: true }, 0]);

      stage.provider.next((call) => {
        call.head().text('Half').failure('server_error').end();
      });
      const cut = await piped([...options(), '--json', 'Fail']).exited;
      expect(cut.code).toBe(2);
      expect(JSON.parse(cut.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        done: false,
        error: { code: 'upstream_error' },
      });
    });

    it('prints what came of an answer that failed, says that it is not complete, and exits with 2', async () => {
      stage.provider.next((call) => {
        call.head().text('Half').failure('server_error').end();
      });
      const { code, stdout, stderr } = await ask('Fail');
      expect({ code, stdout }).toEqual({ code: 2, stdout: 'Half\n' });
      expect(stderr).toMatch(/^The answer is NOT complete: upstream_error: .+\n {2}Request ID: [\w-]+\n$/);
    });

    it('ends the request when it is interrupted', async () => {
      halfAnswer();
      const program = piped([...options(), '-m', 'Go on']);
      await program.shows('Half ');

      program.signal('SIGINT');

      expect(await program.exited).toMatchObject({ code: null, signal: 'SIGINT', stdout: 'Half ' });
      const call = await stage.provider.call(1);
      await call.over;
      expect(call.abortedAt).toBeDefined();
    });

    it('says that a key was revoked, before a stream and during it', async () => {
      const { id, key } = await stage.service.createKey();
      halfAnswer();
      const program = piped([...options(key), '-m', 'Go on']);
      await program.shows('Half ');
      await stage.service.app.get(ApiKeysService, { strict: false }).revoke(id);

      const during = await program.exited;
      const after = await ask('Hello', key);

      expect(during).toMatchObject({ code: 2, stdout: 'Half \n' });
      expect(during.stderr).toMatch(/^The answer is NOT complete: key_revoked: /);
      expect(after).toMatchObject({ code: 1, stdout: '' });
      expect(after.stderr).toMatch(/^401 unauthenticated: .+\n {2}Request ID: /);
    });

    it('says what to do when no server is there', async () => {
      const { code, stdout, stderr } = await piped(['--url', 'http://127.0.0.1:9', '--key', 'csk_1', '-m', 'Hello'])
        .exited;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/Is the service running\? Start it with: npm start\n$/);
    });

    it('says how to get a key, and which option is wrong', async () => {
      const [keyless, unknown, address] = await Promise.all([
        piped(['--url', stage.origin]).exited,
        piped([...options(), '--colour', 'red']).exited,
        piped(['--url', 'chat.example.com', '--key', 'csk_1']).exited,
      ]);
      expect(keyless).toMatchObject({ code: 1, stdout: '' });
      expect(keyless.stderr).toContain('npm run --silent admin -- key create');
      expect(keyless.stderr).not.toContain('--password');
      expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("'--colour'") as string });
      expect(address).toMatchObject({
        code: 1,
        stderr: '--url: "chat.example.com" is not an http:// or https:// URL.\n',
      });
    });
  });

  describe.skipIf(SCRIPT === undefined)('in a terminal', () => {
    const inTerminal = (...words: string[]) => started(ChatProgram.inTerminal(...options(), ...words));
    /** Types a line, and returns the place on the screen after which its answer comes. */
    async function say(program: ChatProgram, line: string): Promise<number> {
      await program.shows(/> $/);
      const place = program.screen.length;
      program.type(`${line}\r`);
      return place;
    }

    it('puts a receipt with tokens and cost under an answer', async () => {
      stage.provider.next((call) => {
        call.head().text('Hello').finish().write(USAGE).endMarker().end();
      });
      const program = inTerminal('-m', 'Hello');
      expect((await program.exited).code).toBe(0);
      expect(program.screen).toMatch(
        /^Hello\n\[1,200 tokens in · 34 tokens out · \$0\.001540 · first text after (?:< )?[\d.]+ s(?: · [\d,]+ tokens\/s)? · finished\]\n$/,
      );
    });

    it('prints Markdown as it is, and nothing that controls the terminal', async () => {
      stage.provider.next((call) => {
        call.answer(MARKDOWN, '\u001b[2Jred\u0007');
      });
      const program = inTerminal('-m', 'Write Markdown');
      await program.exited;
      expect(program.stdout.replaceAll('\r', '')).toMatch(/^# Title/);
      expect(program.stdout.replaceAll('\r', '')).toContain(`${MARKDOWN}[2Jred\n`);
    });

    it('says that an answer was cut off at the token limit, and keeps the conversation', async () => {
      stage.provider.next((call) => {
        call.head().text('A long st').finish('length').endMarker().end();
      });
      const program = inTerminal();
      await say(program, 'Tell a story');
      await program.shows('A long st\n[');
      await program.shows('· cut off at the token limit]\n');

      await say(program, 'Continue');

      await program.shows('Hello world\n');
      const { messages } = (await stage.provider.call(2)).json;
      expect(messages).toEqual([
        { role: 'user', content: 'Tell a story' },
        { role: 'assistant', content: 'A long st' },
        { role: 'user', content: 'Continue' },
      ]);
    });

    it('stops an answer on Ctrl-C, with its receipt, goes on, and exits on a second Ctrl-C', async () => {
      halfAnswer();
      const program = inTerminal();
      await say(program, 'Go on');
      await program.shows('Half ');

      program.type(CTRL_C);

      await program.shows('Stopped: the answer is NOT complete.\n');
      await program.shows(/\[.*tokens out.*\]\n/);
      const call = await stage.provider.call(1);
      await call.over;
      expect(call.abortedAt).toBeDefined();
      const place = await say(program, 'Again');
      await program.shows('Hello world\n', place);
      await program.shows(/> $/, place + 10);
      program.type(CTRL_C);
      expect((await program.exited).code).toBe(0);
    });

    it('says why an answer failed, and goes on', async () => {
      stage.provider.next((call) => {
        call.refuse(400);
      });
      const program = inTerminal();
      await say(program, 'Fail');
      await program.shows(/400 upstream_rejected: .+\n {2}Request ID: /);

      const place = await say(program, '/model acme/none');
      await program.shows('There is no model "acme/none".', place);
      await say(program, '/models');
      await program.shows('* acme/fast  Fast, Acme, ');
      const before = await say(program, 'Hello');
      await program.shows('Hello world\n[', before);
      await say(program, '/exit');
      expect((await program.exited).code).toBe(0);
    });
  });
});
