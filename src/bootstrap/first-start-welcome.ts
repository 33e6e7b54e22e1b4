import type { DevelopmentAccounts } from '../accounts/accounts/development-account.js';
import { curlLine } from '../common/text/curl-line.js';
import type { Config } from '../config/config.js';
import { isLoopback, onThisMachine } from './listening-address.js';

const FIRST_ACCOUNT = `
There is no account yet. This command creates one, and asks for its password:

  npm run --silent admin -- account create --email you@example.com

Without npm: node dist/admin.js account create --email you@example.com

`;

/**
 * On the first start, prints how to get in. In development, creates an account and shows its credentials once. In production,
 * shows the command that creates an account.
 */
export async function welcome(development: DevelopmentAccounts, config: Config, url: string): Promise<void> {
  if (config.production) {
    if (await development.isFirstStart()) process.stdout.write(FIRST_ACCOUNT);
    return;
  }
  const account = await development.ensureDevelopmentAccount();
  if (account === undefined) return;
  const model = config.models[0]?.id ?? 'builtin/eliza';
  const curl = curlLine({
    origin: isLoopback(url) ? url : onThisMachine(url),
    key: account.key,
    model,
    message: 'Hello! Who are you?',
  });
  process.stdout.write(
    [
      '',
      'This is the first start. Here is a development account, shown only once:',
      '',
      `  Sign in   ${onThisMachine(url)}/sign-in`,
      `  Email     ${account.email}`,
      `  Password  ${account.password}`,
      `  API key   ${account.key}`,
      '',
      'Sign in to chat in the playground and to create more keys, or try this command:',
      '',
      curl.replace(/^/gm, '  '),
      '',
      '',
    ].join('\n'),
  );
}
