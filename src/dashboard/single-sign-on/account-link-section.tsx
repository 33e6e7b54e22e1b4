import type { SignInWays } from '../../auth/single-sign-on/account-link.js';
import { LINK_PATH } from '../../auth/single-sign-on/paths.js';
import { PageForm } from '../forms/page-form.js';

interface AccountLinkSectionProps {
  readonly accountId: string;
  readonly ways: SignInWays;
  /** The host of the issuer. */
  readonly issuer: string;
}

/** The part of the account page about single sign-on. */
export function AccountLinkSection({ accountId, ways: { identity, hasPassword }, issuer }: AccountLinkSectionProps) {
  return (
    <section aria-labelledby="single-sign-on">
      <h2 id="single-sign-on">Single sign-on</h2>
      {identity === undefined ? (
        <>
          <p>Link this account to sign in with your account at {issuer}.</p>
          <p>
            <a href={LINK_PATH} role="button" class="outline">
              Link account
            </a>
          </p>
        </>
      ) : (
        <>
          <p>
            You sign in at {issuer}
            {identity.email === null ? '' : ` as ${identity.email}`}.
          </p>
          {hasPassword ? (
            <PageForm action={`${LINK_PATH}/unlink`} accountId={accountId} button="Unlink account" tone="quiet" />
          ) : null}
        </>
      )}
    </section>
  );
}
