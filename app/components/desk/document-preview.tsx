import { useState } from "react";
import { Button } from "~/components/ui/button";
import { useIsHydrated } from "~/components/ui/hydration";

/** Loads the picture only on click, because the server records each opened file in the audit log. */
export function DocumentPreview({ src, name }: { src: string; name: string }) {
  const isHydrated = useIsHydrated();
  const [isShown, setShown] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (!isHydrated) return null;
  return (
    <>
      <Button type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? "Hide" : "Look"}
        <span className="sr-only"> at the {name}</span>
      </Button>
      {isShown && !isBroken && (
        <img src={src} alt={`The ${name}, as it was sent`} className="w-full" onError={() => setBroken(true)} />
      )}
      {isShown && isBroken && <p className="w-full text-sm">It cannot be shown. Open it to see why.</p>}
    </>
  );
}
