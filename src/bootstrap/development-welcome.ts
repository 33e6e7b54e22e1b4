import type { DevelopmentAccounts } from '../accounts/accounts/development-account.js';
import { curlLine } from '../common/text/curl-line.js';
import type { Config } from '../config/config.js';

/** Creates an account on the first start in development, and prints once how to use the account. */
export async function welcome(development: DevelopmentAccounts, config: Config, url: string): Promise<void> {
  const account = await development.ensureDevelopmentAccount();
  if (account === undefined) return;
  const model = config.models[0]?.id ?? 'builtin/eliza';
  const curl = curlLine({ origin: url, key: account.key, model, message: 'Hello! Who are you?' });
  process.stdout.write(
    [
      '',
      'This is the first start. Here is a development account, shown only once:',
      '',
      `  Sign in   ${webAddress(url)}/sign-in`,
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

/**
 * Replaces the loopback address with `localhost`. Without TLS, browsers store secure cookies only for the local machine,
 * and `localhost` is the name for it that all browsers accept.
 */
function webAddress(url: string): string {
  return url.replace(/\/\/(?:127\.0\.0\.1|\[::1\])(?=:|$)/, '//localhost');
}
