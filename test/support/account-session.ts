import type { TestService, TestSession } from '../../src/testing/service/test-service.js';

export type { TestSession as AccountSession } from '../../src/testing/service/test-service.js';

/** As {@link signedIn}, for an account that is an operator. */
export function operatorSignedIn(service: Pick<TestService, 'createSession'>): Promise<TestSession> {
  return service.createSession({ role: 'operator' });
}

/** Creates an account and a session for it. */
export function signedIn(service: Pick<TestService, 'createSession'>, tier?: string): Promise<TestSession> {
  return service.createSession({ tier });
}
