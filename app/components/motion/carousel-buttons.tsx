import { ChevronDown } from "lucide";
import type { ComponentProps, RefObject } from "react";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { useCarousel } from "./carousel";

/** Previous and next for a row, by most of what is in view; the mouse can also drag the row. */
export function CarouselButtons({ row, of }: { row: RefObject<HTMLElement | null>; of: string }) {
  const { index, atEnd } = useCarousel(row);
  const turn = (way: 1 | -1) => row.current?.scrollBy({ left: way * 0.8 * row.current.clientWidth });
  return (
    <>
      <SlideButton direction="Previous" itemName={of} aria-disabled={index === 0} onClick={() => turn(-1)} />
      <SlideButton direction="Next" itemName={of} aria-disabled={atEnd} onClick={() => turn(1)} />
    </>
  );
}

type SlideButtonProps = ComponentProps<typeof Button> & { direction: "Previous" | "Next"; itemName: string };

/** Moves a row on or back. */
export function SlideButton({ direction: way, itemName: of, ...props }: SlideButtonProps) {
  return (
    <Button type="button" look="icon" {...props}>
      <Icon of={ChevronDown} className={`size-5 ${way === "Next" ? "-rotate-90" : "rotate-90"}`} />
      <span className="sr-only">
        {way} {of}
      </span>
    </Button>
  );
}
