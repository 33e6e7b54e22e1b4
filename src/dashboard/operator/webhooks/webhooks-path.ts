/** The page with the deliveries of webhooks. */
export const WEBHOOKS_PATH = '/operator/webhooks';
