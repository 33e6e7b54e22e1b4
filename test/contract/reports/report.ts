import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../fixtures/reports');

export type SurfaceName = 'chat/stream' | 'chat/completions' | 'responses' | 'messages';

/** What a client must get. */
export interface RightAnswer {
  /** The text of the answer. Of an answer that fails: the text before the failure. */
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly json: string }[];
  /** By default `stop`, and `tool_calls` with calls. */
  readonly finish?: 'stop' | 'length' | 'tool_calls';
  /** The code of the failure, such as `upstream_error`. The answer is then never told as complete. */
  readonly error?: string;
  /** Members of `tokens` of the receipt. */
  readonly tokens?: Readonly<Record<string, number | null>>;
}

/** A report of what a provider has sent or a client has asked, and what is right. */
export interface Report {
  readonly name: string;
  /** Where the behaviour was reported or documented, and when. */
  readonly reported: string;
  readonly protocol: 'openai' | 'openai-responses' | 'anthropic' | 'gemini' | 'ollama' | 'bedrock';
  /** The body of the provider's answer, as bytes. By default a short text. For Bedrock: lines with the name of an event and its JSON. */
  readonly body?: string;
  /** The content type of the answer. By default that of the protocol. */
  readonly type?: string;
  /** Whether the provider sends `100 Continue` before its answer, although the service has not asked for it. */
  readonly sends_continue?: boolean;
  /** The requests as JSON text, by surface. By default a question with the tools of the right calls, on each surface. */
  readonly requests?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** Texts that the request to the provider must contain. */
  readonly sent?: readonly string[];
  readonly right: RightAnswer;
}

const reports: readonly Report[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => ({
    ...(parse(readFileSync(join(FOLDER, file), 'utf8')) as Report),
    name: file.replace('.yaml', ''),
  }));

/** Returns the reports of a protocol, by name. */
export function reportsOf(protocol: string): readonly Report[] {
  return reports.filter((report) => report.protocol === protocol);
}
