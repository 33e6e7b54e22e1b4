import type { FormProblems } from '../forms/form-problems.js';
import { PageForm } from '../forms/page-form.js';
import { PASSWORD_HINT } from '../sign-in/credentials-view.js';

export interface LinkViewProps {
  readonly title: string;
  readonly lead: string;
  /** The path that receives the form. */
  readonly action: string;
  readonly email: string;
  readonly button: string;
  readonly problems?: FormProblems | undefined;
}

/** The page that a one-time link opens: the user chooses a password. */
export function LinkView({ title, lead, action, email, button, problems }: LinkViewProps) {
  return (
    <>
      <h1>{title}</h1>
      <p class="lead">{lead}</p>
      <p>
        Email: <strong class="breaks">{email}</strong>
      </p>
      <PageForm
        action={action}
        username={email}
        fields={[
          {
            label: 'New password',
            name: 'password',
            type: 'password',
            autoComplete: 'new-password',
            hint: PASSWORD_HINT,
          },
        ]}
        button={button}
        problems={problems}
      />
    </>
  );
}
