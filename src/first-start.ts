import type { FirstRun } from './accounts/first-run.js';
import type { Config } from './config/config.js';

/** On the first start in development: makes an account, and shows once how to use it. */
export async function welcome(firstRun: FirstRun, config: Config, url: string): Promise<void> {
  const account = await firstRun.ensureDevelopmentAccount();
  if (account === undefined) return;
  const model = config.models[0]?.id ?? 'builtin/eliza';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello! Who are you?' }] });
  process.stdout.write(
    [
      '',
      'This is the first start: here is an account for development, shown only now.',
      '',
      `  Email     ${account.email}`,
      `  Password  ${account.password}`,
      `  API key   ${account.key}`,
      '',
      'Try it:',
      '',
      `  curl -N ${url}/api/v1/chat/stream \\`,
      `    -H 'Authorization: Bearer ${account.key}' \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d '${body}'`,
      '',
      '',
    ].join('\n'),
  );
}
