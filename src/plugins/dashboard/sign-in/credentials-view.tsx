import type { NavigationEntry } from '../../../plugin-api/page-extensions.js';
import { SINGLE_SIGN_ON_PATH, type SingleSignOnLink } from '../../../plugin-api/single-sign-on.js';
import { NEW_PASSWORD, PageForm } from '../forms/page-form.js';
import type { FormProblems } from '../forms/form-problems.js';
import { withNext } from '../paths.js';

export interface CredentialsViewProps {
  readonly email?: string;
  /** The path of the page that opens afterwards. */
  readonly next: string | undefined;
  readonly problems?: FormProblems;
}

interface SignUpViewProps extends CredentialsViewProps {
  readonly hasSignUp: boolean;
}

interface SignInViewProps extends SignUpViewProps {
  readonly hasPasswords: boolean;
  readonly singleSignOn: SingleSignOnLink | undefined;
  /** The ways to sign in that plugins add. */
  readonly otherWays: readonly NavigationEntry[];
}

const EMAIL = { label: 'Email', name: 'email', type: 'email', autoComplete: 'username' } as const;
const PASSWORD = { label: 'Password', name: 'password', type: 'password', autoComplete: 'current-password' } as const;

export function SignInView(props: SignInViewProps) {
  const { next, hasPasswords, singleSignOn, otherWays } = props;
  const hasOthers = singleSignOn !== undefined || otherWays.length > 0;
  return (
    <>
      <h1>Sign in</h1>
      <p class="lead">Chat with models, manage API keys, track usage.</p>
      {singleSignOn === undefined ? null : <IssuerSignIn {...singleSignOn} next={next} />}
      {otherWays.map(({ label, path }) => (
        <p key={path}>
          <a href={withNext(path, next)} role="button">
            {label}
          </a>
        </p>
      ))}
      {hasOthers && hasPasswords ? <h2>With a password</h2> : null}
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
        fields={[{ ...EMAIL, value: email }, PASSWORD, { type: 'hidden', name: 'next', value: next }]}
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

export function SignUpView({ email = '', next, problems, hasSignUp }: SignUpViewProps) {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">
        {hasSignUp ? 'Create your account.' : 'Sign-up is closed. Ask the operator of this service for an account.'}
      </p>
      {hasSignUp ? (
        <PageForm
          action="/sign-up"
          fields={[{ ...EMAIL, value: email }, NEW_PASSWORD, { type: 'hidden', name: 'next', value: next }]}
          button="Sign up"
          problems={problems}
        />
      ) : null}
      <p>
        Already have an account? <a href={withNext('/sign-in', hasSignUp ? next : undefined)}>Sign in</a>
      </p>
    </>
  );
}
