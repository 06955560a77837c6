"""Generated balanced openings: 1000, by ``scripts/openings.py --seed 1``; not edited."""

GENERATED = """
Xjsrv XfuBeCT aWAitn FjQCr QGugN BOwZJCK kQIAjCl kdKtn GqYSgfB dRGC QLiNTM rcbj JQbNk KUcInfN EgXkT grWhUAH
HpYuNjA dgjDKT wNrC AeUY gXGUCIi skvVX GirR ENpL gfEZnwl CWdAMTp BLQXI jNib tDNrpFY qcSr KhQav fXmeP
pwNUn rHOkM uGTU HWpImR RXaZmdD CHlI ipofV ZotOiwA EijKL AJIQOME quZWv OTtJW iSFgTNd MLmgwtY FZgkpTv WeDjvB
EmXaZh XVQmwCE hLCM rhTkZm WOgcNeV YbDpH AQiDTY ISDEN LNZDP CVUaHBk HDMvu PEbR VXadvW gWwoqX DPTUk LDXFnP
ASKovDH ZcJes CuoPF adVgGK bDdJ lfCpFIi PBqZd bJBX wqsarjm KDnHC RnISkPE sSNIwo IDSYnbo eLiAO rmoWE HopOdWg
RaveS BDRvhep JDVWY rspGbZH vrCZil gpFml gkqKUhE CaGnoU AWPnh pLPhfEo FLnQcb SGFKVXk kLCgMrP HRjAX cJQgY eXNChaO
auIi UtCRlhv wPOhlbk IZnsu tZTrIvb DAFmdvo VWFH rsgOb jaKPAOg NscY ZOIEFKd OSmZRAv FDbJWM YXhoueL ALTpo RGFTO
jMhipOI NbVv skwYf NmsX IseQo QfuZ CbQfhJU fSCbFN kUZS XJfDGY NfKSW jJwlP MLTEQ MLBbK AXgL NlVJoRU
mCqZR fgNRQnJ feYtU WYEOd vTNbjl PRFaZ wYCI jTgCJfr RPvtb bhvgt wZQAaUJ deiFK tfIBbYL bWQC eKnbi HTFndKl
otMmdq ioDUF gsILq JfHWh KTqFnm EZretq QEtgU pnjOQ oIDdW cfDLjYq ZLcmG PtiXh OuMdje rjlXGq DGFZtRM kqrWmYi
YiwZEU QTaSv ipGbN EthZAJO SiHlp oSDHO blAh wrkft sJOmXnY Cstc eJwQ sEGVLW dKuLaeM cHENB rMaFY PbUXr
VEbQt NUmFl qCFfr ETna wsWRHUY oMCL JbNKiWL UkWuaJH gDIinRp BFuYrgm vpjHiuP XPqlC pKUlNoP YKBsG WKvwG wsrub
rmslwef CkjswMe jOPamcE UCqgQ MahEk LUGuk eDact AepX MsfiC bXBKL ikOP NJStq tCWei OUpwo WPNQMK qDZa
mcJENMa UYeoqk QOPYt XOLYslW fCUOEbF SKcuw fFBJUE NQZTe fmdQBuc HMBlurj CBkML vXdef KowMl NiCko IOajf qLYgJ
ZHBKMnk bNjnu OpJXDhj NseRKXp mkloHIK FCVem RvejGgt OTwja pAuiqWd LmVPCSF wLXvEbh jgiWP wRQd dRYTGi HNjVn DCqNgJ
qlwIm ClUdOMF RFBWhKU dXlkRLN qufsKkl HRboa lQEmOT OdqeX QhupX RlZcj BhwLp JPvNWOm pQNGX bSwhrR Tuake AtTiQ
AagFtwL pZAkfDI TBtZFa MEldGCm XKpHP EilsqRY PFMRd eLbXT ANUG HCstpY PTuiajl NFSHwGQ LDAXu iZtWS OXvB LbsfUY
OBaUj cALMN KuAXg OCnJ BXGvK sfMGF GMITuV OutYES BHVmcdo iAEIBjD XBbRG UwnMq gJjKHb waskSgq IvrkNV oZAbf
MtHUo WPMls hGrJM qpOPNIf okVCL frBgm TQePVNq GEHdVSY DCBvGRn ujdMG jGqQS NkAMrJf wsKLhnt BXoFUa FwuDj BDZFT
QYisOSX tOQH KYRJi WhtQB phYivXC jvLBYSw AvrDZSF TNIU pVKfqE OQgfh bnRmgCA RYGDl PdEwr HmrY duBFDmg HEoB
vNYkeXB OniET vwIn OLNoe wFDCIS WJvoHOU hYWOgIL RSPOt vkVq XIieSRa bVJmXBg HEFmXek fEiwVuA FLTQs dlfnDtu mXhlL
fTNG IlNpgi vNJBL YrLXU Iitep vmZuLRd fkGt USVXRK qTEjZRo jmnUp NOWI FreHB aJdcI ifRQw BPtla ktWGhDv
ZuJbioV eRSlp CogRv Ahwnts mTbswvB fWMk MOplsLP bZQGM qNbK GmwQYNd doYksit rihJI cjvbioF AONH ZCaDI nYTSXOC
OkRKF BduT DJrB XfcbI wQDUZ DKTfd UkeRoQ BDmCf lsOfwi aUSok BVWgUf sQYPI rcAPX bQCY bENhs pBODfsW
IhYPp LdmQj ImbqnjZ uQEhs obTKVlR fRlcMKY FCWfU HPhA GbTSq FeoKdj IXtJgZ istSL BPiL Ytunm PnicJ amANDMj
EofBcia gedvbCA avBi bkju OdjPs IWbSF kWQpZub sFED bkafj iEQHB dPtqDZI PAECBLT ZAuXL wetiR ufElUIr rfJQ
bZPDWL DFJPceg iHNZGEV dYZWr vwTBO tnTfQ YtoRF NlcXeP aWQGKPu UhVNcRZ eEAdt wpSFLfW PdUSQ IGjcM EMOF YfhFj
XeOZi oHQW IZdgUJ kWNoR tNTU DstW wumTHR GPAELKO ugIX qXQeiT TjbHO HrjXi RNVXGsd EJeWBnc reShTb RuwenaQ
NpwhiMS lhbXF qRMG qXiY Evrjf gvGCODK ogMGP Iwvf NBsuCO rUhXM kYXnCsm cXUkZW iHMjvCS MRjY htGip VuAqFrR
DdgQb VTUE SfZPO GwXZP gLTSl LWGkQCO daYpQ GQmsuUW QCcTGWE cOtma aPVTJ tvIa fLCSQ LaRfv bSuPY kKiXf
kXumC NFIBd iuHnth iDcoU Nesf mlkgSOj ZMrcA MiEsHTh ZgtRK TOaowgk QSkrRlj eijsUQF TwEZOeP FdVWR iZrwhKR KSTZA
jrITa bFKSa WQiRPqk JkaurZe GWOFpP oAFgaZG RgkbhU UiINw tksQFJa jgAHm iJqdPS Ximnp GleiSNt HqUvCZL eMuhD HDvX
PdmstoB nrpgLbJ bpJw wihMvKD UIBhkGE FTcBs ANTa jVMA cupSLe FLmuW fWFmO UHAtcf NhmiZ oWVl bQkSupo krPuv
Ttml iNfTL JbUfX tMUNT NkQXgLU XDOruNa VJclCWP IAGV rEZGiel TRtjC GFedYmw ZeWLt IDWVv kiAm jAflQXp SaQOAIB
OnZJp YZdiF jZUvp IlqgaW mUNEK IYQNn ZbnvOXc AkdKE wckvO LIQBckb siUh Ahpof siZb AQHDMUi klSPj UCXVHBP
FDdN nsuXI sBaSPdG igCa iDkSYlJ wpuoIt rLnPZlK Hwvu VLgpHQu UubhQ vEcL YmBfps iWrcIn WVJBaeZ NSli ZpgsO
cVXTiHv PRGfL iSIE EKwf lGNHJ UvHOlrc XUbpqYW ghDot UXkSm rcPfTg qFnPIWR wJLqW ANQMl qauHXI pfaVu VLOMSib
AidSol itrMTEL BYkoLe OIMdm rOfET Jehigpo tTDXMwu ZVWdg SUwZL QaUtkpv Nmso jeCwvX avOqu auFRqi kRbP ackr
HYPcgs FcJqdbr Ofit NhrLKF ERCbq afCWBUd ckHXn cXqdCQ aGpKF IqtRGr rTAVbl hlSOI SirM Irjdqc EbqL XlicHP
XZjeOPA LGOdrfu ZoqXP lNpmGOD JMNucU jMDF QDeKE mejVLX LDoGjk oCrjLTJ CDKJFld boPLG OKuQ bfdpj GplIONZ oVsZC
DvwdP ZSCLo msHt pSqh gdRBW MZnEl JVfjg rIZPj mPSpoiO RHWnlKp PQUag BUidS bNKgm tSZsq sghUo OkUVqZ
aLbUW Wufra vYocd JSmWt Egmko sGebH meLTAc ngMjt HtnTeBG HfsYlct sNbTS lgadKDI DIpJ UNKiIHq tmSsR mfVQXHE
OMFN IOQDu AfnwB FhHjAKr jeAHSNa ARkCDwj NGeLO iIKEucP PZudf Vtlav LRvQmK uhAHU mJwXFa BOhQ onkQU pYQm
FMiNajC qlpX pXrVKS nwrkL mvBt rHLWO KXJDp Fmcifl iLsmA gHBmj gohUCi XeEoj oEqJ PdtaEls nlJBF CvuLi
JchRY qEXJd mWIJY ulBe MUsFa PpIwgJr sUbnG nYVuXdg jMia rlTWMQ HGuQl bcgsjt Dctr rmBZd dlbVAoX tRgSJa
JWBdnDj JDrYV SuiMc VtYrI kpJrscv mXLac FTBKoQ eVpk eRCsOgh BesKD Mpnu NkUpmdq UmgIB wQVAtnT kXemq qJvG
owWcltS YDIRu cKAqN mkPOi ZlfLkqD BLkERQ gJEfeit dgYchXA Gurb ofCaTvB nZcRFr ikMRZYj nkEKFgO SKFBw lhafc CbfUSK
oIjtGTD OteWuc EYma NKwVgL qVLRr vWRTK ZSIJsgw igJbQ DIXlj qpNf stEP rQJLBpb FUrK uRBhbf BKaVs FJotBiU
XgTfNHk VjiRJ BedDvV MWTBH clXjO cIYVQ RcnYD UXSPQ wKTiFNR AlnaW PCRKA sZDHT CHMOniD vanrI ngUNVRc fhktbTF
GQWC ntDQv fsihGFj MRIabBD LgZPA aoHSU kdAcoK ODbS GXvPfr mcNX egjqN BlwK QkZEuIL XesTNP dfavq tuGdqZ
AGig NaOZ TaskmLw dKNju Hlok rEIR Fvqb uEfDX VQWihuS VXGg BZqbgl qMFVc YcJft Ggmu pijofAS hfNLlJ
CpgZa catbHjq qkKn HAvL FTABh ipGMsjX jsOXD hjmMqQI ERZbVi SlIPvMp AsRfHIG WfNe lKBT cOBPC KcqDC BIqV
XmprDLB QViC jdEsDCc jQVfs hZArb Djbomnq FXlk NWmDISE CZDliUP CUvqk aGBM mHdVI HhUL ildwH WMNaoC blaWf
DfXrW UKPLga TOeRArL AbpERg nXVmCZ fQFpnCw OfDEQFp CJPAi XeGKO fuNLVmp NZWh WisbMPa ueZXNGV tuVap tcHWwK QSAPXMa
qXol WZbjO nComEQI NLDwebR rOWQJ UXPV TPQIUeZ eIAPgqK VdemtQg eEHprPF Vctkbs Xhsgn WZUf WfFtlNM lMhiS Heta
jUwrG qKMSEjP ONGXT btGPiW sBHAiZ veSQ OlupFWE PlvSs WLbkd TeJpuWN VvaWwXn tsHBw EGaopZX FiKYl WYoHI HlFAj
qKCst tlPnd ULslIT Genu wGDC XiUFODK qbpJ pOZnmEH EhHKc RYlhbGU NXcAC oCDPEag NfEIcGZ mkvZL dEZnDQq nQgHjeU
vPtjV mQUkc uIAblJ SOniEfP WdrmO vZBD MhPtNOk pYkdb qklOUgR CBsSQpG gYEHfsq YPTWm DCjH DJTeqg NWkC aongr
igdQpvK Fiwklhs GVAP BXnH YCVWGd LbuSN VlUIu fbJecqA wDXT pgSwk mfsep IktZL GYPbur avcBNmC boXZunY ZPARws
AoeOF ldDce EhNdOUg QVACD BlNEWOs npDPrUh MKjPDf JXbntAU pqmRJ qlKY TgHeLu hESWBZg gcuhelD ZbgJrQV UWVq OUemn
PgZev iUcuJ lEJYL gIBZPSi dpnYMoh wKqpC kgoVJNH hismaT iPIE cwWno GpvnhBs srqHIXd ibtgp psVoa vuXJH nYSbD
lLwtKsa MgBYXVo aCusQtE gSIiu sQLYP DLink HjWhR cpeSEfO Ihum LCRSA TIrtghO NOWX AucVi nJWgNbS gmVYGDK obsfXOG
djiO dcoRAva widDF UmqJF wXIedk HiYwFZ Tnki DIjCX
"""
"""A word an opening, a letter a stone; see `balanced`."""
