/** The pages that the header leads to, in order. */
export const NAVIGATION = [
  { place: 'api-keys', label: 'API keys', path: '/settings/api-keys' },
  { place: 'playground', label: 'Playground', path: '/playground' },
  { place: 'usage', label: 'Usage', path: '/usage' },
] as const;

/** Where in the application a page stands. */
export type Place = (typeof NAVIGATION)[number]['place'] | 'account' | 'sign-in' | 'sign-up';
