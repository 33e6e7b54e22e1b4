import type { FormField } from '../forms/page-form.js';

interface EnteredAccount {
  readonly email?: string | undefined;
  readonly tier?: string | undefined;
}

/** The fields with which an operator describes a new account. */
export function accountFields(
  { email, tier }: EnteredAccount,
  tiers: Iterable<string>,
  defaultTier: string,
): readonly [email: FormField, tier: FormField] {
  const options = Object.fromEntries([...tiers].map((name) => [name, name]));
  return [
    { label: 'Email', name: 'email', type: 'email', value: email, maxLength: 254, autoComplete: 'off' },
    { label: 'Tier', name: 'tier', type: 'select', options, value: tier ?? defaultTier },
  ];
}
