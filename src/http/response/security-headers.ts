import { toLines } from './header-lines.ts';

/**
 * Headers that make browsers trust the content type and show the answer in no frame (OWASP REST Security Cheat Sheet,
 * "Security Headers"). `policy` is the Content-Security-Policy.
 */
export function securityLines(policy = "frame-ancestors 'none'"): string {
  return toLines({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': policy,
  });
}
