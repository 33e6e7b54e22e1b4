/** A field in which the user chooses a password. */
export const NEW_PASSWORD = {
  label: 'Password',
  name: 'password',
  type: 'password',
  autoComplete: 'new-password',
  hint: 'At least 8 characters. A few random words work well.',
} as const;
