import { Logger } from '@nestjs/common';
import type { DevelopmentAccounts } from '../../accounts/accounts/development-account.js';
import { curlLine } from '../common/text/request-code.js';
import type { Config } from '../config/config.js';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';

/** The URL of the address and port on which the application really listens, such as `http://0.0.0.0:3000`. */
export function listeningAddress(app: NestExpressApplication): string {
  const { address, family, port } = app.getHttpServer().address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Whether only programs on this machine can reach the address. */
export function isLoopback(url: string): boolean {
  return /^http:\/\/(?:127\.|\[::1\])/.test(url);
}

/** Replaces an address of this machine, and the address for all networks, with `localhost`. */
function onThisMachine(url: string): string {
  return url.replace(/\/\/(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?=:|$)/, '//localhost');
}

const FIRST_ACCOUNT =
  'There is no account yet. To create one: node dist/admin.js account create --email you@example.com';

/**
 * On the first start, prints how to get in. In development, creates an account and shows its credentials once. In production,
 * logs the command that creates an account, because the output of a production process contains only log lines. The service serves
 * already, so it does not stop when the database is unavailable now.
 */
export async function welcome(
  development: DevelopmentAccounts,
  config: Config,
  url: string,
  hasPages: boolean,
): Promise<void> {
  try {
    await showFirstSteps(development, config, url, hasPages);
  } catch (error) {
    new Logger('Service').warn({ msg: 'The service cannot tell whether there is an account', reason: String(error) });
  }
}

async function showFirstSteps(
  development: DevelopmentAccounts,
  config: Config,
  url: string,
  hasPages: boolean,
): Promise<void> {
  if (config.production) {
    if (await development.isFirstStart()) new Logger('Service').warn(FIRST_ACCOUNT);
    return;
  }
  const account = await development.ensureDevelopmentAccount();
  if (account === undefined) return;
  process.stdout.write(
    [
      '',
      'This is the first start. Here is a development account, shown only once:',
      '',
      ...(hasPages ? [`  Sign in   ${onThisMachine(url)}/sign-in`] : []),
      `  Email     ${account.email}`,
      ...(account.password === undefined ? [] : [`  Password  ${account.password}`]),
      `  API key   ${account.key}`,
      '',
      ...firstRequest(config, url, account.key, hasPages),
      '',
      '',
    ].join('\n'),
  );
}

/** Returns a command with the first model of the list. Without a model, there is nothing to try yet. */
function firstRequest({ models, catalogName }: Config, url: string, key: string, hasPages: boolean): string[] {
  const [model] = models;
  if (model === undefined)
    return [`No model is available yet: add the API key of a provider, as ${catalogName} names it.`];
  const origin = isLoopback(url) ? url : onThisMachine(url);
  const request = JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Hello! Who are you?' }] });
  return [
    hasPages ? 'Sign in to chat in the playground and to create more keys, or try this command:' : 'Try this command:',
    '',
    curlLine({ origin, key, request }).replace(/^/gm, '  '),
  ];
}
