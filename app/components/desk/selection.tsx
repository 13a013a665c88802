import { useEffect, useState } from "react";
import { Button } from "~/components/ui/button";

/** Ticks all boxes of a form that can be, or takes all ticks off; a button where script runs alone. */
export function SelectAllButton({ form }: { form: string }) {
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  if (!isReady) return null;
  const press = () => {
    const element = document.getElementById(form);
    const boxes = [...(element?.querySelectorAll<HTMLInputElement>("input[type=checkbox]:not(:disabled)") ?? [])];
    const isTicked = !boxes.every(({ checked }) => checked);
    for (const box of boxes) box.checked = isTicked;
    element?.dispatchEvent(new Event("change"));
  };
  return (
    <Button type="button" onClick={press}>
      Tick all
    </Button>
  );
}

/** How many boxes of a form are ticked, in brackets behind what its button says; nothing where script does not run. */
export function SelectionCount({ form }: { form: string }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const element = document.getElementById(form);
    const tell = () => setCount(element?.querySelectorAll("input[type=checkbox]:checked").length ?? 0);
    tell();
    element?.addEventListener("change", tell);
    return () => element?.removeEventListener("change", tell);
  });
  return count > 0 ? ` (${count})` : null;
}
