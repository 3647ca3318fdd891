/// The words for passwords: 1024, so that each is worth ten bits. They are common, have three to five letters, and none
/// is the beginning of another one. The list was made for this project.
enum WordList {
    static let words: [String] = text.split(whereSeparator: \.isWhitespace).map(String.init)

    private static let text = """
        able acid acorn actor adapt adobe adopt adult after again agent agile ahead aisle alarm album alder alert
        algae alien alley allow alloy alone along alpha amber ample angel angle ankle anvil apple apron arbor arch
        arena argue armor army aroma arrow ash aspen aster atlas atom attic aunt award axis baby bacon badge bagel
        baker ball band banjo bank bark barn baron basil basin bath baton beach bead beak beam bean beard bed beech
        beef began begin being bell below belt bench bend berry best bike bingo birch bird bison black blade blank
        blast blaze blend blimp blink block bloom blue bluff blush board boast boat body bold bolt bonus book boot
        boss bowl boxer brain brake brass brave bread break brick brief brisk broad brook broom brown brush buddy
        bugle build bulb bull bunny bush busy buyer cabin cable cadet cake calf calm camel camp canal candy canoe
        cape card cargo carol cart carve case cash catch cave cedar cello chain chair chalk charm chart chase cheap
        check cheek chef chess chest chew chief chili chin chip chord cider city civil claim clam clap class clay
        clean clear clerk cliff climb cloak clock close cloth cloud clown club clue coach coast coat cocoa code coil
        coin cold color comb comet comic cone copy coral cord core cork couch cover cow crab craft crane cream creek
        crest crew crisp crop cross crowd crown crumb crust cube cup curb curl curry curve cycle daily dairy daisy
        dance dawn day deal deck deep deer delta depot depth desk diary diet digit disco dish ditch dive dock dome
        donor door dough dove dozen draft drama draw dream dress drift drill drink drive drum duck duet dune dusk
        dust duty eagle early earth easel east easy echo edge edit eel eight elbow elder elect elk elm ember empty
        enjoy enter entry epic equal era essay event every exact exam exit extra eye fable face fact fair faith fall
        fancy farm fast feast fence fern ferry fiber field fifty film final finch fire firm first fish five flag
        flame flash flat fleet flint float flock floor flour fluid flute foam focus fog foil folk food foot forge
        fork form fort forum fox frame free fresh frog front frost fruit fudge fuel full fur gable game gamma gate
        gauge gecko gem giant gift glad glass glide globe glory glove glow glue goal goat gold golf good goose gorge
        gourd grace grain grand grant grape graph grass gravy gray great green grid grill grin grip group grove
        guard guess guest guide gulf gull gym habit hail hair half hall hand happy hard hare harp hat haven hawk
        hazel head heart heat heavy hedge heel hello help hen herb herd heron hill hint hobby holly home honey hood
        hoof hook hope horn horse hotel hour house hub human humor husky hut icon ideal igloo image inch index ink
        inlet inn input iris iron item ivory ivy jade jam jar jazz jeans jelly jewel job join joke jolly joy judge
        juice jumbo jump jury just kayak keen keep kelp key kind king kiosk kite kiwi knee knob knot koala label
        labor lace lady lake lamb lamp lance land lap large lark laser last latch later laugh lava lawn layer leaf
        learn ledge leek left lemon lens level lever lid life lift light lilac lily limb lime limit linen lion llama
        loaf lobby local logic long loop lotus loud love loyal lucky lunar lunch lute lynx lyric magic maid mail
        major mango manor maple march marsh mask match meal medal melon menu merit merry mesa metal meter mild milk
        mill mind minor mint mixer model money month moon moose moral moss motor mouse mouth movie mug mural music
        myth navy near nest net never new nice night nine noble noise north nose note novel nurse nylon oak oasis
        oat oboe ocean odd offer olive omega onion onset open opera optic orbit order organ otter ounce oval oven
        owl owner pace pack page paint pair palm panda panel paper park party pasta patch path pause peace peach
        peak pearl pecan pedal perch petal phone photo piano pier pilot pine pink pipe pixel pizza place plain plank
        plant plate plaza plum poem poet point polar pond pony pool poppy porch port power price pride print prism
        prize proof proud pulp pulse puma pupil purse quail queen quest quick quiet quill quilt quote radar radio
        raft rail rain rally ramp ranch range rapid rare raven razor reach ready real reef regal relay relic rent
        reply rest rice rich ridge right ring river road robin robot rodeo roof room root rope rose rotor rough
        round route royal ruby rug ruler rural rush rust rye safe saga sage sail salad salon salt same sand satin
        sauce sauna scale scarf scene scone scout seat seed sense seven shade shape share shark sharp shawl sheep
        shelf shell shine ship shirt shoe shore short sign silk siren six size skill skirt sky slate sleek sleep
        slice slide slope slow small smart smile smoke snack snail snake snow soap sock sofa soft soil solar solid
        solo song sonic sound soup south space spark speak spear speed spell spice spoon sport spot spray squid
        stack staff stage stair stamp star state steam steel stem step stew stick still stone stool store stork
        storm story stove strap straw style sugar suit super surf swan sweet swift swim swing syrup table talk tall
        tango tank tape taste taxi team tempo tent term test text thank theme thick thing third thorn three thumb
        thyme tiara tide tidy tiger tile time tiny title toast today token tone tonic tool tooth topaz topic torch
        total tower town toy track trade trail train tram tray treat tree trek trend trial tribe trick trio trip
        trout truck true trunk trust truth tube tulip tuna turbo tutor twig twin two uncle under union unit upper
        urban usual valid value valve vapor vase vast vault venue verb verse vest video view viola visit vital vote
        walk wall warm wash wave week west wick wide wild wine wing wire wise wolf wood wool word work wren yard
        yarn year zero zinc zone zoom
        """
}
