const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The stylesheet contains its icons as data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The headers of every answer of a page. */
export const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Not "no-referrer": browsers would send "Origin: null" with forms.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** The response headers of every page. */
export const PAGE_HEADERS = { ...SECURITY_HEADERS, 'Content-Type': 'text/html; charset=utf-8' } as const;

/** An additional header of pages served over TLS. Browsers ignore it without TLS, so http://localhost keeps working. */
export const HTTPS_ONLY = { 'Strict-Transport-Security': 'max-age=31536000' } as const;
