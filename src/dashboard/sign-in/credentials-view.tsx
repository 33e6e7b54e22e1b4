import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { withNext } from '../local-path.js';
import type { SingleSignOnLink } from '../pages.js';
import { SINGLE_SIGN_ON_PATH } from '../../auth/single-sign-on/paths.js';

export interface CredentialsViewProps {
  readonly email?: string;
  /** The path of the page that opens afterwards. */
  readonly next: string | undefined;
  readonly problems?: FormProblems;
}

export const PASSWORD_HINT = 'At least 8 characters. A few random words work well.';

const EMAIL = { label: 'Email', name: 'email', type: 'email', autoComplete: 'username' } as const;
const PASSWORD = { label: 'Password', name: 'password', type: 'password' } as const;

interface SignInViewProps extends CredentialsViewProps {
  readonly hasPasswords: boolean;
  readonly hasSignUp: boolean;
  readonly singleSignOn: SingleSignOnLink | undefined;
}

export function SignInView(props: SignInViewProps) {
  const { next, hasPasswords, singleSignOn } = props;
  return (
    <>
      <h1>Sign in</h1>
      <p class="lead">Chat with models, manage API keys, track usage.</p>
      {singleSignOn === undefined ? null : <IssuerSignIn {...singleSignOn} next={next} />}
      {singleSignOn !== undefined && hasPasswords ? <h2>With a password</h2> : null}
      {hasPasswords ? <PasswordSignIn {...props} /> : null}
    </>
  );
}

/** A link and no form, because the policy of the pages keeps forms on this host. */
function IssuerSignIn({ origin, host, next }: SingleSignOnLink & { readonly next: string | undefined }) {
  return (
    <>
      <p>
        <a href={origin + withNext(SINGLE_SIGN_ON_PATH, next)} role="button">
          Continue with single sign-on
        </a>
      </p>
      <p class="fine">You sign in at {host}, and come back afterwards.</p>
    </>
  );
}

function PasswordSignIn({ email = '', next, problems, hasSignUp }: SignInViewProps) {
  return (
    <>
      <PageForm
        action="/sign-in"
        fields={[
          { ...EMAIL, value: email },
          { ...PASSWORD, autoComplete: 'current-password' },
          { type: 'hidden', name: 'next', value: next },
        ]}
        button="Sign in"
        problems={problems}
      />
      {hasSignUp ? (
        <p>
          No account yet? <a href={withNext('/sign-up', next)}>Sign up</a>
        </p>
      ) : (
        <p class="fine">Sign-up is closed. Ask the operator of this service for an account or a new password.</p>
      )}
    </>
  );
}

export function SignUpView({ email = '', next, problems }: CredentialsViewProps) {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">Create your account.</p>
      <PageForm
        action="/sign-up"
        fields={[
          { ...EMAIL, value: email },
          { ...PASSWORD, autoComplete: 'new-password', hint: PASSWORD_HINT },
          { type: 'hidden', name: 'next', value: next },
        ]}
        button="Sign up"
        problems={problems}
      />
      <p>
        Already have an account? <a href={withNext('/sign-in', next)}>Sign in</a>
      </p>
    </>
  );
}

export function SignUpClosedView() {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">Sign-up is closed. Ask the operator of this service for an account.</p>
      <p>
        Already have an account? <a href="/sign-in">Sign in</a>
      </p>
    </>
  );
}
