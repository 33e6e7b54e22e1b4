import type { FirstRun } from '../accounts/accounts/first-run.js';
import { curlLine } from '../common/text/curl-line.js';
import type { Config } from '../config/config.js';

/** On the first start in development: makes an account, and shows once how to use it. */
export async function welcome(firstRun: FirstRun, config: Config, url: string): Promise<void> {
  const account = await firstRun.ensureDevelopmentAccount();
  if (account === undefined) return;
  const model = config.models[0]?.id ?? 'builtin/eliza';
  const curl = curlLine({ origin: url, key: account.key, model, message: 'Hello! Who are you?' });
  process.stdout.write(
    [
      '',
      'This is the first start: here is an account for development, shown only now.',
      '',
      `  Sign in   ${webAddress(url)}/sign-in`,
      `  Email     ${account.email}`,
      `  Password  ${account.password}`,
      `  API key   ${account.key}`,
      '',
      'Sign in to chat in the playground and to make more keys, or try it right here:',
      '',
      curl.replace(/^/gm, '  '),
      '',
      '',
    ].join('\n'),
  );
}

/** Browsers keep secure cookies of a host without TLS only where it is this very machine, and all of them know it by this name. */
function webAddress(url: string): string {
  return url.replace(/\/\/(?:127\.0\.0\.1|\[::1\])(?=:|$)/, '//localhost');
}
