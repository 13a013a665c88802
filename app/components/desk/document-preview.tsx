import { useEffect, useState } from "react";
import { Button } from "~/components/ui/button";

/**
 * A button that shows a picture in place, where script runs: nothing is fetched before it is pressed, and its opening is
 * an act as every other. Browsers run nothing in a picture.
 */
export function DocumentPreview({ src, name }: { src: string; name: string }) {
  const [isReady, setReady] = useState(false);
  const [isShown, setShown] = useState(false);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => setReady(true), []);
  if (!isReady) return null;
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
