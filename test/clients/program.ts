import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const PACKAGES = join(import.meta.dirname, 'node_modules');
/** Several of the programs need a newer Node than the service. */
export const NODE = join(PACKAGES, `node-${process.platform}-${process.arch}`, 'bin', 'node');
/** A program that is not over by then hangs. */
const LIMIT_MS = 90_000;
export const QUESTION = 'Which word is in the notes?';
/** What the file holds that the agent has to read. */
export const WORD = 'heron-42';
/** A red square of 32 pixels, as PNG. */
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAE7YQD2B7wk2AAAAAElFTkSuQmCC';

/** Where a program finds the service, and its own folders. */
export interface Place {
  /** The base URL for clients of OpenAI's kind. */
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  /** The home of the program, which is empty. */
  readonly home: string;
  /** The path of an image that belongs to the question. */
  readonly image: string | undefined;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The configuration files below the home, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A program that asks a model, with the settings of docs/compatible-apis.md. */
export interface Program {
  readonly name: string;
  /** Whether a question can have an image. */
  readonly takesImages: boolean;
  command(place: Place): Command;
}

/** How a program has ended. */
export interface Ended {
  /** `undefined`: the program did not end in time. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a working directory with a file to read, and with a home of its own. */
export async function run(
  program: Program,
  { isImageAsked = false, ...place }: Pick<Place, 'baseUrl' | 'key' | 'model'> & { readonly isImageAsked?: boolean },
): Promise<Ended> {
  const home = await mkdtemp(join(tmpdir(), 'client-'));
  const work = join(home, 'work');
  await mkdir(work);
  await writeFile(join(work, 'notes.txt'), `The word is ${WORD}.\n`);
  const image = join(work, 'image.png');
  await writeFile(image, Buffer.from(IMAGE, 'base64'));
  const command = program.command({ ...place, home, image: isImageAsked ? image : undefined });
  for (const [path, content] of Object.entries(command.files ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), content);
  }
  try {
    return await ended(command, work, environment(home, command.env));
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Nothing of the user's environment, and no way to any other address than those of this machine. */
function environment(home: string, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9';
  return {
    PATH: `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`,
    ...{ HOME: home, TMPDIR: home, XDG_CONFIG_HOME: join(home, '.config'), XDG_DATA_HOME: join(home, '.data') },
    ...{ XDG_CACHE_HOME: join(home, '.cache'), XDG_STATE_HOME: join(home, '.state') },
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' },
    ...{ CI: 'true', NO_COLOR: '1', TERM: 'dumb', DO_NOT_TRACK: '1' },
    ...own,
  };
}

function ended({ file, args }: Command, cwd: string, env: Record<string, string>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that the programs that it starts end with it.
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const out = { stdout: '', stderr: '' };
    let isLate = false;
    const kill = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The group is over.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, LIMIT_MS);
    child.stdout.on('data', (bytes: Buffer) => (out.stdout += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (out.stderr += bytes.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      kill();
      resolve({ code: isLate ? undefined : (code ?? 1), ...out });
    });
  });
}

/** Whether the packages of this folder are installed. */
export const areInstalled = existsSync(NODE);
