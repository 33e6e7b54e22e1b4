import { Injectable } from '@nestjs/common';
import { createRequire } from 'node:module';
import { fetch } from 'undici';
import { ExtensionPoint, Extensions } from '../../platform/common/extensions/extensions.js';
import type { UpstreamConfig } from '../../platform/config/config.js';
import type { CredentialSource } from '../contract/credential.js';
import { checkedOptions } from '../contract/options-schema.js';
import { UpstreamConnections } from '../transport/upstream-connections.js';
import { AwsCredentials } from './aws-credentials.js';
import { AzureCredentials } from './azure-credentials.js';
import { CommandCredentials } from './command-credentials.js';
import { UpstreamCredentials } from './upstream-credentials.js';
import { GoogleCredentials } from './google-credentials.js';

/** The sources of credentials of plugins. One with the kind of a built-in source replaces it. */
export const PLUGIN_CREDENTIALS = new ExtensionPoint<CredentialSource>('credentials');

/** The sources of the service. To add a source, add one file, and one entry to this list. */
const SOURCES: readonly CredentialSource[] = [
  new AwsCredentials(),
  new GoogleCredentials(),
  new AzureCredentials(),
  new CommandCredentials(),
];

const require = createRequire(import.meta.url);

/** Finds the source of the credentials of an upstream, and checks its configuration. */
@Injectable()
export class CredentialSources {
  constructor(
    private readonly extensions: Extensions,
    private readonly connections: UpstreamConnections,
  ) {}

  /**
   * Returns the credentials of an upstream. Nothing is obtained or loaded yet.
   *
   * @param problems gets each problem, with the path inside the upstream.
   */
  of(upstream: UpstreamConfig, problems: string[]): UpstreamCredentials | undefined {
    const { credentials } = upstream;
    if (credentials === undefined) return undefined;
    const sources = [...SOURCES, ...this.extensions.of(PLUGIN_CREDENTIALS)];
    const source = sources.findLast(({ kind }) => kind === credentials.kind);
    if (source === undefined) {
      problems.push(`credentials.kind: is not one of ${[...new Set(sources.map(({ kind }) => kind))].join(', ')}`);
      return undefined;
    }
    const owner = `the kind ${source.kind}`;
    const given = source.options === undefined && isEmpty(credentials.options) ? undefined : credentials.options;
    const { options, issues } = checkedOptions(source.options, given, owner);
    problems.push(
      ...issues.map((issue) => `credentials${issue}`),
      ...(source.packages ?? []).flatMap(problemOfPackage),
    );
    const dispatcher = this.connections.dispatcher(upstream);
    return new UpstreamCredentials((signal) =>
      source.obtain(options, upstream, {
        signal,
        fetch: (url, init = {}) =>
          fetch(url, {
            ...init,
            signal: init.signal == null ? signal : AbortSignal.any([signal, init.signal]),
            dispatcher,
          }),
      }),
    );
  }
}

function isEmpty(options: object): boolean {
  return Object.keys(options).length === 0;
}

function problemOfPackage(name: string): string[] {
  try {
    require.resolve(name);
    return [];
  } catch {
    return [`credentials: needs the package ${name}, which is not installed: npm install ${name}`];
  }
}
