export function RouteMark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 36 28" width="36" height="28" aria-hidden="true" className={className}>
      <path
        d="M4 22 13 8l10 9 9-12"
        fill="none"
        className="stroke-action"
        strokeWidth="3"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
      <g className="fill-ink">
        <circle cx="4" cy="22" r="3" />
        <circle cx="13" cy="8" r="3" />
        <circle cx="23" cy="17" r="3" />
        <circle cx="32" cy="5" r="3" />
      </g>
    </svg>
  );
}

/** components.css shows the splash screen until its later sibling `main` has content. */
export function Splash({ tagline }: { tagline: string }) {
  return (
    <div aria-hidden className="splash">
      <RouteMark className="w-18" />
      {tagline}
    </div>
  );
}
