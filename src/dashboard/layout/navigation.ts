/** The pages in the navigation of the header, in order. */
export const NAVIGATION = [
  { place: 'api-keys', label: 'API keys', path: '/settings/api-keys' },
  { place: 'playground', label: 'Playground', path: '/playground' },
  { place: 'usage', label: 'Usage', path: '/usage' },
] as const;

/** The part of the application that a page belongs to. The header marks this part as current. */
export type Place = (typeof NAVIGATION)[number]['place'] | 'account' | 'sign-in' | 'sign-up';
