import { afterAll, describe, expect, it } from 'vitest';
import { operatorSignedIn } from '../support/account-session.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { expectAccessible } from './accessibility.js';
import { hasChromium } from './chromium.js';
import { WebStage } from './web-stage.js';

describe.skipIf(!hasChromium)('the webhooks of operators in Chromium', () => {
  let receiver: WebhookReceiver;
  const web = WebStage.forSuite(async () => {
    receiver = await WebhookReceiver.start();
    const { url, secret } = receiver.entry;
    return { webhooks: { portal: receiver.entry, inside: { url, secret } } };
  });
  afterAll(() => receiver.stop());

  it('are tried with a signed event, which is sent once and is in the audit log', async () => {
    const account = await operatorSignedIn(web.stage.service);
    const { page, complaints } = await web.open('/operator/webhooks', { account });
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
    await row('portal').getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/^Delivered after [<\d. ]+ s: The receiver answered 204\.$/).waitFor();
    expect(receiver.events).toMatchObject([{ type: 'webhook.test', data: { account: null, key: null } }]);
    await expectAccessible(page, 'webhook-test');

    receiver.status = 500;
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText(/^Failed after [<\d. ]+ s: The receiver answered 500\.$/).waitFor();

    await page.getByRole('link', { name: '← Webhooks' }).click();
    await page.getByText('There are no events yet.').waitFor();
    await row('inside').getByRole('button', { name: 'Send test' }).click();
    await page.getByText('The address is not public, and not in allowed_networks.').waitFor();
    expect(receiver.requests).toHaveLength(2);

    await page.goto(`${web.origin}/operator/audit?action=webhook.tested`);
    await expect.poll(() => page.getByRole('row', { name: 'webhook portal' }).count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 60_000);
});
