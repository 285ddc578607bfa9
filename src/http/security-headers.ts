/**
 * What every response of the public surface says to browsers: believe its content type, show it in no frame. Pages of
 * the documentation have a fuller policy of their own. (OWASP REST Security Cheat Sheet, "Security Headers".)
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "frame-ancestors 'none'",
} as const;
