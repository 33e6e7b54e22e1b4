// Takes the screenshots of README.md: starts the built service with an empty database in memory and a scripted provider, gives an
// account the usage of a month, and looks at two pages in Chromium. Run `node docs/screenshots/take.mjs` after a change of
// these pages.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { AccountsService } from '../../dist/accounts/accounts/accounts.service.js';
import { createTestService, ScriptedProvider } from '../../dist/testing.js';
import { testUsageRecord } from '../../dist/testing/stores/usage-records.js';
import { UsageStore } from '../../dist/usage/store/usage-store.js';

const PROGRAM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const VIEWPORT = { width: 1200, height: 780 };
const EMAIL = 'ada@example.com';
const PASSWORD = 'seven green parrots';
const DAY_MS = 86_400_000;
const MODELS = [
  { id: 'acme/fast', name: 'Fast', price: { input_per_million: 0.5, output_per_million: 2 } },
  { id: 'acme/thorough', name: 'Thorough', price: { input_per_million: 3, output_per_million: 15 } },
];
const QUESTION = 'How do I count the lines of a file in Python?';
const ANSWER = `Read the file line by line, so that its size does not matter:

\`\`\`python
def count_lines(path: str) -> int:
    with open(path) as file:
        return sum(1 for _ in file)
\`\`\`

The mean length of a line is $\\bar{x} = \\frac{1}{n}\\sum_{i=1}^{n} x_i$.
`;

const provider = await ScriptedProvider.start();
provider.answers((call) => call.answer(...(ANSWER.match(/.{1,8}/gs) ?? [])));
const service = await createTestService({
  config: {
    upstreams: { acme: { protocol: 'openai', base_url: `${provider.origin}/v1`, api_key: 'secret' } },
    models: MODELS.map((model) => ({
      ...{ ...model, provider: 'Acme', context_length: 128_000 },
      routes: [{ upstream: 'acme', model: model.name }],
    })),
    tiers: { pro: { requests_per_minute: 60, concurrent_streams: 10, tokens_per_day: 2_000_000 } },
    default_tier: 'pro',
  },
});
const account = await service.app.get(AccountsService, { strict: false }).create({ email: EMAIL, password: PASSWORD });
await service.app.get(UsageStore, { strict: false }).append(Array.from({ length: 240 }, (_, index) => record(index)));
const browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: VIEWPORT, reducedMotion: 'reduce' });
  const origin = service.origin.replace('127.0.0.1', 'localhost');
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('Email').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  await page.goto(`${origin}/playground`);
  await page.getByLabel('Message').fill(QUESTION);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.receipt', { hasText: 'finished' }).waitFor();
  // The libraries for code and formulas are loaded with the first answer that needs them.
  await page.locator('.hljs-keyword').first().waitFor();
  await page.locator('.katex').first().waitFor();
  await shoot(page, 'playground');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${origin}/usage`);
  await page.getByRole('heading', { name: 'Your usage' }).evaluate((heading) => {
    scrollTo(0, heading.getBoundingClientRect().top - 24);
  });
  await shoot(page, 'usage');
} finally {
  await browser.close();
  await service.stop();
  await provider.stop();
}

/** @param {import('playwright-core').Page} page @param {string} name */
async function shoot(page, name) {
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, import.meta.url)) });
}

/** A request of the last 30 days, with fewer requests on some days. @param {number} index */
function record(index) {
  const [model] = index % 5 === 0 ? MODELS.slice(1) : MODELS;
  const [input, output] = [400 + ((index * 37) % 2000), 200 + ((index * 91) % 1500)];
  const startedAt = Date.now() - ((index % 3 === 0 ? index * index : index * 5) % 29) * DAY_MS;
  const { input_per_million: inputPerMillion, output_per_million: outputPerMillion } = model.price;
  return testUsageRecord({
    ...{ accountId: account.id, credential: 'session', keyId: undefined, keyPrefix: undefined, model: model.id },
    ...{ startedAt, firstTextAt: startedAt + 200, endedAt: startedAt + 3000 },
    ...(index % 31 === 3 ? { outcome: 'upstream_failed', errorCode: 'upstream_error' } : {}),
    inputTokens: { source: 'reported', count: input },
    outputTokens: { source: 'reported', count: output },
    ...{ cachedInputTokens: undefined, cacheWriteInputTokens: undefined },
    price: { inputPerMillion, outputPerMillion, currency: 'USD' },
    costMicros: input * inputPerMillion + output * outputPerMillion,
  });
}
